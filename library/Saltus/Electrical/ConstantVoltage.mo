within Saltus.Electrical;
model ConstantVoltage "Source of constant voltage"
  extends Interfaces.OnePort;
  parameter Units.Voltage V "Voltage";
equation
  v = V;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid), Line(points = {{-40, 0}, {40, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Ideal: the voltage does not depend on the current.</p></html>"));
end ConstantVoltage;
