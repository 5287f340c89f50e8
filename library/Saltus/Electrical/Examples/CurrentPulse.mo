within Saltus.Electrical.Examples;
model CurrentPulse "A current source charges a capacitor"
  extends Icons.Example;
  SignalCurrent source(u = if time < 1 then -1e-3 else 0) "Drives a current out of its pin p for a second";
  Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true)) "Integrates the current";
  Ground ground "Reference";
equation
  connect(source.p, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-10),
    Documentation(info = "<html><p>The voltage rises to 1 V in a second, and stays.</p></html>"));
end CurrentPulse;
