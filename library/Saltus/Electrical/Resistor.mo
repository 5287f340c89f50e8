within Saltus.Electrical;
model Resistor "Ohm's law"
  extends Interfaces.OnePort;
  parameter Units.Resistance R "Resistance";
equation
  v = R*i;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-40, 20}, {40, -20}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>May be zero or negative.</p></html>"));
end Resistor;
