within Saltus.Electrical;
model LeakyDiode "Diode with a resistance while it conducts and a conductance while it blocks"
  extends Interfaces.Curve;
  parameter Units.Resistance R0(min = 0) = 1e-5 "While it conducts";
  parameter Units.Conductance G0(min = 0) = 1e-5 "While it blocks";
  Boolean off = s < 0 "Blocks";
equation
  v = unitVoltage*s*(if off then 1 else R0*unitCurrent/unitVoltage);
  i = unitCurrent*s*(if off then G0*unitVoltage/unitCurrent else 1);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 35}, {40, 0}, {-40, -35}, {-40, 35}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 35}, {40, -35}}, color = {0, 0, 255}), Line(points = {{-40, 45}, {40, 45}}, color = {0, 0, 255}, pattern = LinePattern.Dash)}),
    Documentation(info = "<html><p>The leaky diode of textbook Fig. 9.33: the structure of the circuit does not change, at the price of a stiff model. <code>IdealDiode</code> has neither.</p></html>"));
end LeakyDiode;
