within Saltus.Mechanics;
model Inertia "Rigid body that turns around an axis"
  parameter Units.Inertia J "Moment of inertia";
  Interfaces.Shaft_a shaft_a "Left shaft" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Shaft_b shaft_b "Right shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Angle phi(start = 0) "Angle of both shafts";
  Units.AngularVelocity w(start = 0) "Angular velocity";
  Units.AngularAcceleration a "Angular acceleration";
equation
  shaft_a.phi = phi;
  shaft_b.phi = phi;
  w = der(phi);
  a = der(w);
  J*a = shaft_a.tau + shaft_b.tau;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 10}, {100, -10}}, lineColor = {0, 0, 0}, fillColor = {192, 192, 192}, fillPattern = FillPattern.HorizontalCylinder),
      Rectangle(extent = {{-40, 50}, {40, -50}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.HorizontalCylinder),
      Text(extent = {{-100, 90}, {100, 60}}, textString = "%name")}),
    Documentation(info = "<html><p>Newton's law of rotation. It begins where <code>phi(start = …, fixed = true)</code> and <code>w(start = …, fixed = true)</code> say.</p></html>"));
end Inertia;
