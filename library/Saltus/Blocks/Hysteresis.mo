within Saltus.Blocks;
block Hysteresis "Dry hysteresis"
  parameter Real x1 "Falls below this input";
  parameter Real x2(min = x1) "Rises above this input";
  parameter Real y1 "Lower output";
  parameter Real y2 "Upper output";
  parameter Boolean startsUp = false "Which output holds at the start if the input is between x1 and x2";
  Interfaces.RealInput x "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput y "Output" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Boolean up(start = startsUp, fixed = true) "The upper output holds";
equation
  up = x > x2 or pre(up) and not x < x1;
  y = if up then y2 else y1;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -50}, {40, -50}, {40, 50}, {80, 50}}, color = {0, 0, 127}), Line(points = {{40, 50}, {-40, 50}, {-40, -50}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Textbook Fig. 9.22: rises to <code>y2</code> where the input passes <code>x2</code> upwards, falls to <code>y1</code> where it passes <code>x1</code> downwards.</p></html>"));
end Hysteresis;
