within Saltus.Electrical;
model IdealDiode "Ideal diode"
  extends Interfaces.Curve;
  Boolean off = s < 0 "Blocks";
equation
  v = unitVoltage*(if off then s else 0);
  i = unitCurrent*(if off then 0 else s);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 35}, {40, 0}, {-40, -35}, {-40, 35}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 35}, {40, -35}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>A curve with a parameter (textbook section 9.9): the parameter is the voltage while the diode blocks, the current while it conducts.</p></html>"));
end IdealDiode;
