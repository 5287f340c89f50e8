within Saltus.Electrical;
model Ground "Potential zero"
  Interfaces.PositivePin p "Pin" annotation(Placement(transformation(extent = {{-10, 90}, {10, 110}})));
equation
  p.v = 0;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{0, 90}, {0, 20}}, color = {0, 0, 255}), Line(points = {{-60, 20}, {60, 20}}, color = {0, 0, 255}),
      Line(points = {{-40, 0}, {40, 0}}, color = {0, 0, 255}), Line(points = {{-20, -20}, {20, -20}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Every circuit needs one.</p></html>"));
end Ground;
