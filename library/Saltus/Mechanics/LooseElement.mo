within Saltus.Mechanics;
block LooseElement "Loose element: the output lags behind the input by the same distance in both directions"
  parameter Units.Position d(min = 0) "Distance";
  parameter Units.Position y0 = 0 "Output at the start";
  Blocks.Interfaces.RealInput x(quantity = "Length", unit = "m") "Driving position" annotation(Placement(transformation(extent = {{-120, -20}, {-80, 20}})));
  Blocks.Interfaces.RealOutput y(quantity = "Length", unit = "m") "Driven position" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Integer contact(start = 0, fixed = true, min = -1, max = 1) "1 pushes up, -1 pushes down, 0 neither";
  Units.Velocity v = der(x) "Velocity of the input";
protected
  discrete Units.Position held(start = y0, fixed = true) "Output where nothing pushes";
equation
  contact = if pre(contact) == 1 then (if v < 0 then 0 else 1)
    elseif pre(contact) == -1 then (if v > 0 then 0 else -1)
    elseif x - d > pre(held) then 1 elseif x + d < pre(held) then -1 else 0;
  when contact == 0 then
    held = if pre(contact) == 1 then x - d elseif pre(contact) == -1 then x + d else pre(held);
  end when;
  y = if contact == 1 then x - d elseif contact == -1 then x + d else held;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}),
      Polygon(points = {{-70, -50}, {-10, -50}, {70, 50}, {10, 50}, {-70, -50}}, lineColor = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html>
<p>Homework H9.5. The output follows the input at the distance <code>d</code> while it is pushed; where the input turns, the output stays until the input has come to it from the other side. <code>Backlash</code> is
the same between bodies that keep their momentum.</p>
</html>"));
end LooseElement;
