within Saltus;
package Blocks "Signals that jump, hold, and are sampled"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, radius = 20),
      Line(points = {{-70, -50}, {30, -50}, {30, 50}, {70, 50}}, color = {0, 0, 127}),
      Line(points = {{30, 50}, {-30, 50}, {-30, -50}}, color = {0, 0, 127})}),
    Documentation(info = "<html><p>Functions with several values, functions with corners, samplers, controllers of several rates, noise.</p></html>"));
end Blocks;
