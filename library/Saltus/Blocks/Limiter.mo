within Saltus.Blocks;
block Limiter "Linear between two limits"
  parameter Real x1 "Left corner";
  parameter Real x2(min = x1) "Right corner";
  parameter Real y1 = x1 "Output left of x1";
  parameter Real y2 = x2 "Output right of x2";
  Interfaces.RealInput x "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
equation
  y = if x < x1 then y1 elseif x > x2 then y2 else y1 + (y2 - y1)*(x - x1)/(x2 - x1);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -50}, {-40, -50}, {40, 50}, {80, 50}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Homework H9.13: an event at each corner.</p></html>"));
end Limiter;
