within Saltus;
package Impact "Laws for the instant of an impact"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20),
      Ellipse(extent = {{-60, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid),
      Ellipse(extent = {{0, 30}, {60, -30}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>A law speaks of velocities before and after the instant; impulses follow from the equations of the model.</p></html>"));
end Impact;
