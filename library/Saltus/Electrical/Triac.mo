within Saltus.Electrical;
model Triac "Ideal triac"
  extends Interfaces.Curve;
  Blocks.Interfaces.BooleanInput fire "Lets a voltage of either sign begin to conduct" annotation(Placement(transformation(extent = {{60, 80}, {100, 120}})));
  Integer mode(start = 0, fixed = true, min = -1, max = 1) "1 conducts from p to n, -1 from n to p, 0 blocks";
equation
  mode = if pre(mode) == 1 then (if s < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if s > 0 then 0 else -1)
    elseif fire and s > 0 then 1 elseif fire and s < 0 then -1 else 0;
  v = unitVoltage*(if mode == 0 then s else 0);
  i = unitCurrent*(if mode == 0 then 0 else s);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 40}, {40, 20}, {-40, 0}, {-40, 40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Polygon(points = {{40, 0}, {-40, -20}, {40, -40}, {40, 0}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 40}, {40, -40}}, color = {0, 0, 255}), Line(points = {{-40, 40}, {-40, -40}}, color = {0, 0, 255}), Line(points = {{40, 0}, {80, 80}}, color = {160, 0, 160})}),
    Documentation(info = "<html><p>Conducts in the direction of the voltage at which it is fired, and blocks where its current passes zero; if <code>fire</code> is still true, it conducts the other way at once.</p></html>"));
end Triac;
