within Saltus.Electrical;
model Thyristor "Ideal thyristor"
  extends Interfaces.Curve;
  Blocks.Interfaces.BooleanInput fire "Lets a forward voltage begin to conduct" annotation(Placement(transformation(extent = {{60, 80}, {100, 120}})));
  Boolean off(start = true, fixed = true) "Blocks";
equation
  off = s < 0 or pre(off) and not fire;
  v = unitVoltage*(if off then s else 0);
  i = unitCurrent*(if off then 0 else s);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 35}, {40, 0}, {-40, -35}, {-40, 35}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 35}, {40, -35}}, color = {0, 0, 255}), Line(points = {{40, 0}, {80, 80}}, color = {160, 0, 160})}),
    Documentation(info = "<html><p>The curve of <code>IdealDiode</code>; a blocking thyristor begins to conduct only while <code>fire</code> is true, and blocks again where its current passes zero (homework H9.7).</p></html>"));
end Thyristor;
