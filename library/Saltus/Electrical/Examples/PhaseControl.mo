within Saltus.Electrical.Examples;
model PhaseControl "A thyristor is fired into a load of resistance and inductance at 30 degrees of every period"
  extends Icons.Example;
  parameter Units.Frequency f = 50/3 "Of the line";
  SineVoltage source(V = 1, f = f) "Line";
  Thyristor thyristor(fire = sample(30/360/f, 1/f)) "Fired at an instant of each period";
  Resistor resistor(R = 1) "Load";
  Inductor inductor(L = 0.015) "Load";
  Ground ground "Reference";
equation
  connect(source.p, thyristor.p);
  connect(thyristor.n, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.2, Tolerance = 1e-10),
    Documentation(info = "<html><p>Textbook section 9.2. The current ends at 240.084 degrees.</p></html>"));
end PhaseControl;
