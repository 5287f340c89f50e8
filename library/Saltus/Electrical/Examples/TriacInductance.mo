within Saltus.Electrical.Examples;
model TriacInductance "A triac is fired into a load of resistance and inductance in both directions"
  extends Icons.Example;
  parameter Units.Frequency f = 50/3 "Of the line";
  SineVoltage source(V = 1, f = f) "Line";
  Triac triac(fire = sample(75/360/f, 1/(2*f))) "Fired twice in each period";
  Resistor resistor(R = 1) "Load";
  Inductor inductor(L = 0.015) "Load";
  Ground ground "Reference";
equation
  connect(source.p, triac.p);
  connect(triac.n, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.12, Tolerance = 1e-10),
    Documentation(info = "<html><p>The current of a half period ends after the zero of the voltage, and before the next firing.</p></html>"));
end TriacInductance;
