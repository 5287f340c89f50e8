within Saltus.Mechanics.Examples;
model BouncingMass "A mass falls on a stop and bounces until it rests"
  extends Icons.Example;
  Mass mass(m = 2, s(start = 1, fixed = true), v(start = 0, fixed = true)) "Falls";
  Force weight(f = -2*9.81) "Of the mass";
  EndStop stop(e = 0.85) "Throws it back";
  Fixed ground "Carries the stop";
equation
  connect(ground.flange, stop.flange_a);
  connect(stop.flange_b, mass.flange_a);
  connect(weight.flange, mass.flange_b);
  annotation(
    experiment(StopTime = 7, Tolerance = 1e-11),
    Documentation(info = "<html><p>The first impact is at 0.4515 s; the impacts come to a limit at 5.5688 s.</p></html>"));
end BouncingMass;
