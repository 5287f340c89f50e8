within Saltus.Electrical;
model SignalVoltage "Source whose voltage is a signal"
  extends Interfaces.OnePort;
  Blocks.Interfaces.RealInput u(quantity = "ElectricPotential", unit = "V") "Voltage" annotation(Placement(transformation(extent = {{-20, -120}, {20, -80}})));
equation
  v = u;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid), Line(points = {{-40, 0}, {40, 0}}, color = {0, 0, 255}), Line(points = {{0, -40}, {0, -80}}, color = {0, 0, 127})}),
    Documentation(info = "<html><p>Ideal: the voltage does not depend on the current.</p></html>"));
end SignalVoltage;
