within Saltus.Blocks;
block UniformNoise "Noise, equally distributed between two limits"
  parameter Units.Time period "Time between samples";
  parameter Real low = 0 "Smallest value";
  parameter Real high(min = low) = 1 "Largest value";
  parameter Integer seed(min = 1, max = 2147483646) = 1 "Of the generator: each has its own sequence";
  Interfaces.RealOutput y(start = low, fixed = true) "Noise, held between samples" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Integer state(start = seed, fixed = true) "Of the generator";
equation
  when sample(0, period) then
    state = minimalStandard(pre(state));
    y = low + (high - low)*(state/2147483647);
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, 10}, {-60, 10}, {-60, -50}, {-40, -50}, {-40, 60}, {-20, 60}, {-20, -10}, {0, -10}, {0, 40}, {20, 40}, {20, -70}, {40, -70}, {40, 20}, {60, 20}, {60, -30}, {80, -30}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>A sequence of samples that depends on the seed and on nothing else: not on the integrator, its tolerance or other events.</p></html>"));
end UniformNoise;
