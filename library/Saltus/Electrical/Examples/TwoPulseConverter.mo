within Saltus.Electrical.Examples;
model TwoPulseConverter "Two thyristors take the current of a load over from each other in every half period"
  extends Icons.Example;
  SineVoltage source1(V = 100, f = 50) "One half of the winding";
  SineVoltage source2(V = -100, f = 50) "The other half";
  Thyristor thyristor1(fire = sample(1/300, 0.02)) "Fired at 60 degrees";
  Thyristor thyristor2(fire = sample(4/300, 0.02)) "Fired at 240 degrees";
  Resistor resistor(R = 10) "Load";
  Inductor inductor(L = 0.1) "Keeps the current flowing";
  Ground ground "Center of the winding";
equation
  connect(source1.n, ground.p);
  connect(source2.n, ground.p);
  connect(source1.p, thyristor1.p);
  connect(source2.p, thyristor2.p);
  connect(thyristor1.n, resistor.p);
  connect(thyristor2.n, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, ground.p);
  annotation(
    experiment(StopTime = 0.06, Tolerance = 1e-10),
    Documentation(info = "<html><p>At each firing but the first the load carries a current: it passes to the thyristor that is fired, and the other one blocks, at one instant.</p></html>"));
end TwoPulseConverter;
