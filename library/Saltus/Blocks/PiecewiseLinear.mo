within Saltus.Blocks;
model PiecewiseLinear "Piecewise linear function that can be used from either side"
  parameter Real points[:, 2] "Corners (x, y) in order; the first and the last line go on";
  Real x "Abscissa";
  Real y "Ordinate";
  Real s(unit = "1") "Place on the curve: k at corner k, linear between";
protected
  parameter Integer n = size(points, 1) "Number of corners";
  parameter Real d[n - 1, 2] = points[2:n, :] - points[1:n - 1, :] "Steps from corner to corner";
  Real r[n - 2] "How far beyond inner corners";
equation
  for k in 1:n - 2 loop
    r[k] = if s > k + 1 then s - (k + 1) else 0;
  end for;
  x = points[1, 1] + d[1, 1]*(s - 1) + (d[2:n - 1, 1] - d[1:n - 2, 1])*r;
  y = points[1, 2] + d[1, 2]*(s - 1) + (d[2:n - 1, 2] - d[1:n - 2, 2])*r;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -70}, {-30, -30}, {20, 50}, {80, 60}}, color = {0, 0, 127}), Ellipse(extent = {{-34, -26}, {-26, -34}}, lineColor = {0, 0, 127}), Ellipse(extent = {{16, 54}, {24, 46}}, lineColor = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>The function of textbook Fig. 9.19 as a curve with a parameter: an equation of the model gives <code>x</code> or <code>y</code>, and the other follows. Where <code>y</code> is given no line may be flat, where <code>x</code> is given none upright; otherwise both are allowed.</p></html>"));
end PiecewiseLinear;
