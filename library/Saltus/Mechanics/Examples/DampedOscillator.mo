within Saltus.Mechanics.Examples;
model DampedOscillator "A mass between a spring and a damper"
  extends Icons.Example;
  Mass mass(m = 1, s(start = 1, fixed = true), v(start = 0, fixed = true)) "Swings";
  Spring spring(c = 26) "Draws it back";
  Damper damper(d = 2) "Takes energy";
  Fixed ground "Does not move";
equation
  connect(ground.flange, spring.flange_a);
  connect(ground.flange, damper.flange_a);
  connect(spring.flange_b, mass.flange_a);
  connect(damper.flange_b, mass.flange_a);
  annotation(
    experiment(StopTime = 3, Tolerance = 1e-10),
    Documentation(info = "<html><p>The position is exp(-t) (cos 5t + sin(5t)/5).</p></html>"));
end DampedOscillator;
