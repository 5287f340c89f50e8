within Saltus.Mechanics;
model Damper "Linear damper"
  extends Interfaces.TwoFlanges;
  parameter Units.DampingConstant d "Force by velocity";
  Units.Velocity v "Velocity of flange_b relative to flange_a";
equation
  v = der(s_rel);
  f = d*v;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-90, 0}, {-10, 0}}), Line(points = {{-10, 20}, {-10, -20}}),
      Line(points = {{-40, 30}, {40, 30}, {40, -30}, {-40, -30}}), Line(points = {{40, 0}, {90, 0}}),
      Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
    Documentation(info = "<html><p>Viscous force between its flanges.</p></html>"));
end Damper;
