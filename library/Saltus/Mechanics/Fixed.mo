within Saltus.Mechanics;
model Fixed "Flange that does not move"
  parameter Units.Position s0 = 0 "Position";
  Interfaces.Flange_b flange "Holds what is connected" annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
equation
  flange.s = s0;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{0, 0}, {0, -40}}), Line(points = {{-60, -40}, {60, -40}}),
      Line(points = {{-60, -60}, {-40, -40}}), Line(points = {{-20, -60}, {0, -40}}), Line(points = {{20, -60}, {40, -40}}),
      Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
    Documentation(info = "<html><p>The ground of mechanics: takes any force.</p></html>"));
end Fixed;
