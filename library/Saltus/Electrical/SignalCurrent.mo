within Saltus.Electrical;
model SignalCurrent "Source whose current is a signal"
  extends Interfaces.OnePort;
  Blocks.Interfaces.RealInput u(quantity = "ElectricCurrent", unit = "A") "Current from p to n, through the source" annotation(Placement(transformation(extent = {{-20, -120}, {20, -80}})));
equation
  i = u;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid), Line(points = {{0, 40}, {0, -40}}, color = {0, 0, 255}), Line(points = {{0, -40}, {0, -80}}, color = {0, 0, 127})}),
    Documentation(info = "<html><p>Ideal: the current does not depend on the voltage.</p></html>"));
end SignalCurrent;
