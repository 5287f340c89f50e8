within Saltus;
package Icons "Pictures of classes without one of their own"
  partial model Example "Picture of a model that can be run"
    annotation(
      Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
        Ellipse(extent = {{-90, 90}, {90, -90}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
        Polygon(points = {{-35, 55}, {65, 0}, {-35, -55}, {-35, 55}}, lineColor = {0, 110, 60}, fillColor = {0, 140, 80}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Extended by the models of the packages <code>Examples</code>.</p></html>"));
  end Example;

  partial package Examples "Picture of a package of examples"
    annotation(
      Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
        Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20),
        Polygon(points = {{-45, 55}, {55, 0}, {-45, -55}, {-45, 55}}, lineColor = {0, 110, 60}, fillColor = {0, 140, 80}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Extended by the packages <code>Examples</code>.</p></html>"));
  end Examples;

  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20)}),
    Documentation(info = "<html><p>Contain graphics only.</p></html>"));
end Icons;
