within Saltus.Blocks;
block NormalNoise "Noise, normally distributed"
  parameter Units.Time period "Time between samples";
  parameter Real mean = 0 "Mean";
  parameter Real sigma(min = 0) = 1 "Standard deviation";
  parameter Integer seed(min = 1, max = 2147483646) = 1 "Of the generator: each has its own sequence";
  Interfaces.RealOutput y(start = mean, fixed = true) "Noise, held between samples" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Integer state(start = seed, fixed = true) "Of the generator";
protected
  constant Real pi = 3.14159265358979324;
  discrete Real u(start = 0.5, fixed = true) "First uniform number of the pair";
equation
  when sample(0, period) then
    u = minimalStandard(pre(state))/2147483647;
    state = minimalStandard(minimalStandard(pre(state)));
    y = mean + sigma*sqrt(-2*log(u))*cos(2*pi*(state/2147483647));
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -60}, {-50, -55}, {-25, 0}, {0, 60}, {25, 0}, {50, -55}, {80, -60}}, color = {0, 0, 127}, smooth = Smooth.Bezier),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Two uniform numbers make one normal one (G. E. P. Box, M. E. Muller, 1958).</p></html>"));
end NormalNoise;
