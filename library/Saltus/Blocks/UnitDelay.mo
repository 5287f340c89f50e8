within Saltus.Blocks;
block UnitDelay "Sampler that is late by one period"
  parameter Units.Time period "Time between samples";
  parameter Units.Time offset = 0 "Time of the first sample";
  parameter Real y0 = 0 "Output until the second sample";
  Interfaces.RealInput x "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput y(start = y0, fixed = true) "Output: the last sample but one" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
protected
  discrete Real last(start = y0, fixed = true) "The last sample";
equation
  when sample(offset, period) then
    last = x;
    y = pre(last);
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-60, 40}, {60, -40}}, textString = "1/z"),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>The output is what <code>Sampler</code> gave one period before.</p></html>"));
end UnitDelay;
