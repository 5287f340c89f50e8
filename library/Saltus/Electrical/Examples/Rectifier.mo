within Saltus.Electrical.Examples;
model Rectifier "Half-wave rectifier behind an inductance, with an ideal diode"
  extends Icons.Example;
  SineVoltage source(V = 10, f = 50) "Line";
  Resistor line(R = 10) "Resistance of the line";
  Inductor inductor(L = 0.01, i(start = 0, fixed = true)) "Inductance of the line";
  IdealDiode diode "Rectifies";
  Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true)) "Smooths";
  Resistor load(R = 50) "Load";
  Ground ground "Reference";
equation
  connect(source.p, line.p);
  connect(line.n, inductor.p);
  connect(inductor.n, diode.p);
  connect(diode.n, capacitor.p);
  connect(diode.n, load.p);
  connect(capacitor.n, source.n);
  connect(load.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.09, Tolerance = 1e-11),
    Documentation(info = "<html><p>Textbook Fig. 9.31. The current is a state while the diode conducts, and none while it blocks.</p></html>"));
end Rectifier;
