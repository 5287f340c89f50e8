within Saltus.Electrical.Examples;
model TunnelSweep "The curve of a tunnel diode, driven by a voltage"
  extends Icons.Example;
  SignalVoltage source(u = -1 + time) "Rises";
  Resistor resistor(R = 50) "Small enough for one solution";
  TunnelDiode diode(Vp = 0.1, Ip = 2e-3, Vv = 0.5, Iv = 0.5e-3) "Its curve falls by 3.75 mS";
  Ground ground "Reference";
equation
  connect(source.p, resistor.p);
  connect(resistor.n, diode.p);
  connect(diode.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-10),
    Documentation(info = "<html><p>Every part of the curve is passed.</p></html>"));
end TunnelSweep;
