within Saltus.Mechanics;
model Backlash "Play between two flanges: free within it, rigid at its ends"
  extends Interfaces.TwoFlanges;
  parameter Units.Position b(min = 0) "Play";
  Integer contact(start = 0, fixed = true, min = -1, max = 1) "1 flange_b at the far end, -1 at the near end, 0 free";
  Units.Velocity v "Velocity of flange_b relative to flange_a";
equation
  v = der(s_rel);
  contact = if pre(contact) == 1 then (if f < 0 then 0 else 1)
    elseif pre(contact) == -1 then (if f > 0 then 0 else -1)
    elseif s_rel > b/2 and v > 0 then 1 elseif s_rel < -b/2 and v < 0 then -1 else 0;
  0 = if contact == 0 then f else v;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-90, 0}, {-50, 0}}), Line(points = {{50, 40}, {-50, 40}, {-50, -40}, {50, -40}}),
      Rectangle(extent = {{-30, 20}, {40, -20}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid), Line(points = {{40, 0}, {90, 0}}),
      Text(extent = {{-100, 90}, {100, 60}}, textString = "%name")}),
    Documentation(info = "<html>
<p>Within the play no force acts. At its ends the flanges move together, while the force between them is one of pressure; where they meet, the velocities of the bodies become equal and their momentum stays.
<code>LooseElement</code> is the kinematic form of homework H9.5.</p>
</html>"));
end Backlash;
