within Saltus.Blocks.Examples;
model Positioning "A body is positioned by a controller of two rates"
  extends Icons.Example;
  Real x(unit = "m", start = 0, fixed = true) "Position";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  CascadeController controller(period = 0.1, n = 5, kx = 0.8, kv = 4, r = 1) "Velocity ten times a second, position twice";
equation
  controller.x = x;
  controller.v = v;
  der(x) = v;
  der(v) = controller.a;
  annotation(
    experiment(StopTime = 6, Tolerance = 1e-10),
    Documentation(info = "<html><p>Between samples the acceleration is constant: position and velocity follow an exact recursion.</p></html>"));
end Positioning;
