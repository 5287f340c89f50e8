within Saltus.Electrical.Examples;
model LeakyRectifier "Half-wave rectifier behind an inductance, with a leaky diode"
  extends Icons.Example;
  SineVoltage source(V = 10, f = 50) "Line";
  Resistor line(R = 10) "Resistance of the line";
  Inductor inductor(L = 0.01, i(start = 0, fixed = true)) "Inductance of the line";
  LeakyDiode diode(R0 = 1e-3, G0 = 1e-4) "Rectifies";
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
    Documentation(info = "<html><p>Textbook Fig. 9.31 with the diode of Fig. 9.33. The current is always a state, of a stiff system while the diode blocks.</p></html>"));
end LeakyRectifier;
