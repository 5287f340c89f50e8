within Saltus.Mechanics.Examples;
model PlasticStop "A mass falls on a plastic stop, rests, and is lifted"
  extends Icons.Example;
  Mass mass(m = 2, s(start = 0.5, fixed = true), v(start = 0, fixed = true)) "Falls";
  Force force(f = if time < 2 then -10 else 10) "Presses, then lifts";
  EndStop stop(e = 0) "Does not throw it back";
  Fixed ground "Carries the stop";
equation
  connect(ground.flange, stop.flange_a);
  connect(stop.flange_b, mass.flange_a);
  connect(force.flange, mass.flange_b);
  annotation(
    experiment(StopTime = 3, Tolerance = 1e-10),
    Documentation(info = "<html><p>Rests from 1/&radic;5 s to 2 s; the impulse of the stop is 2&radic;5 N.s.</p></html>"));
end PlasticStop;
