within Saltus.Mechanics;
model Clutch "Clutch: friction between two shafts"
  extends Interfaces.Plates;
  Interfaces.Shaft_a shaft_a "Left shaft" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.Shaft_b shaft_b "Right shaft" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Angle phi_rel "Angle of shaft_b relative to shaft_a";
equation
  phi_rel = shaft_b.phi - shaft_a.phi;
  w = der(phi_rel);
  shaft_b.tau = tau;
  shaft_a.tau = -tau;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-100, 0}, {-30, 0}}), Line(points = {{30, 0}, {100, 0}}),
      Rectangle(extent = {{10, 50}, {30, -50}}, lineColor = {0, 0, 0}, fillColor = {192, 192, 192}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Slides until both shafts turn equally fast, then locks them together, until the torque between them is too large or the pressure is taken away. While it is locked the model has one
state less.</p></html>"));
end Clutch;
