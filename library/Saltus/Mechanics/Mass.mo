within Saltus.Mechanics;
model Mass "Rigid body that moves along a line"
  parameter Units.Mass m "Mass";
  Interfaces.Flange_a flange_a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Flange_b flange_b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Position s(start = 0) "Position of both flanges";
  Units.Velocity v(start = 0) "Velocity";
  Units.Acceleration a "Acceleration";
equation
  flange_a.s = s;
  flange_b.s = s;
  v = der(s);
  a = der(v);
  m*a = flange_a.f + flange_b.f;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-100, 0}, {100, 0}}, color = {0, 130, 0}),
      Rectangle(extent = {{-60, 35}, {60, -35}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-60, 15}, {60, -15}}, textString = "%m"),
      Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
    Documentation(info = "<html><p>Newton's law for a body of no length. It begins where <code>s(start = …, fixed = true)</code> and <code>v(start = …, fixed = true)</code> say.</p></html>"));
end Mass;
