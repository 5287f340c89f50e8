within Saltus.Electrical;
model ZenerDiode "Ideal Zener diode"
  extends Interfaces.Curve;
  parameter Units.Voltage Vz(min = 0) "Breakdown voltage";
equation
  v = unitVoltage*(if s > 0 then 0 elseif s < -Vz/unitVoltage then -Vz/unitVoltage else s);
  i = unitCurrent*(if s > 0 then s elseif s < -Vz/unitVoltage then s + Vz/unitVoltage else 0);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 35}, {40, 0}, {-40, -35}, {-40, 35}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 35}, {40, -35}}, color = {0, 0, 255}), Line(points = {{40, 35}, {55, 35}}, color = {0, 0, 255}), Line(points = {{40, -35}, {25, -35}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Homework H9.9: a diode from p to n that breaks down at <code>-Vz</code>. Pin p is the anode, so that the device is used with a negative voltage.</p></html>"));
end ZenerDiode;
