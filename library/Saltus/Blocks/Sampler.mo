within Saltus.Blocks;
block Sampler "Sampler and hold"
  parameter Units.Time period "Time between samples";
  parameter Units.Time offset = 0 "Time of the first sample";
  Interfaces.RealInput x "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput y(start = 0, fixed = true) "Output: the last sample" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
equation
  when sample(offset, period) then
    y = x;
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -40}, {-30, -40}, {-30, 10}, {20, 10}, {20, 50}, {80, 50}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Takes the input at <code>offset</code> and every <code>period</code> after it; 0 before.</p></html>"));
end Sampler;
