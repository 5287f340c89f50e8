within Saltus.Mechanics;
model Brake "Brake: friction between a shaft and the ground"
  extends Interfaces.Plates;
  Interfaces.Shaft_a shaft_a "Left shaft" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Shaft_b shaft_b "Right shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Angle phi "Angle of both shafts";
equation
  phi = shaft_a.phi;
  phi = shaft_b.phi;
  w = der(phi);
  shaft_a.tau + shaft_b.tau = tau;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-100, 0}, {100, 0}}),
      Line(points = {{10, 50}, {10, -50}}), Line(points = {{10, 50}, {22, 38}}), Line(points = {{10, 10}, {22, -2}}), Line(points = {{10, -30}, {22, -42}})}),
    Documentation(info = "<html><p>Slides until the shaft stands still, then holds it, until the torque on it is too large or the pressure is taken away.</p></html>"));
end Brake;
