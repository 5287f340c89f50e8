within Saltus.Mechanics;
model EndStop "Stop with a coefficient of restitution"
  extends Interfaces.TwoFlanges;
  parameter Units.Position gap = 0 "Distance of the flanges at which they touch";
  parameter Real e(unit = "1", min = 0, max = 1) "Coefficient of restitution";
  Units.Velocity v "Velocity of flange_b relative to flange_a";
  Boolean contact(start = false) "The flanges rest against each other";
initial equation
  pre(contact) = s_rel <= gap and not (v < 0 or v > 0);
equation
  v = der(s_rel);
  contact = if pre(contact) then not f > 0 else e <= 0 and s_rel <= gap and v < 0;
  0 = if contact then v else f;
  when not contact and s_rel <= gap and v < 0 then
    Impact.restitution(-v, e, f);
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-20, 50}, {-20, -50}}, thickness = 1), Line(points = {{-90, 0}, {-20, 0}}),
      Line(points = {{20, 30}, {20, -30}}, thickness = 1), Line(points = {{20, 0}, {90, 0}}),
      Text(extent = {{-100, 90}, {100, 60}}, textString = "%name")}),
    Documentation(info = "<html>
<p>The flanges come no closer than <code>gap</code>: where they meet, the velocity at which they part is <code>e</code> times the one at which they met. The impulse, and what else jumps, follows from
the rest of the model. With <code>e = 0</code>, and where they begin at rest, they stay together until a force draws them apart.</p>
</html>"));
end EndStop;
