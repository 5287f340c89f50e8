within Saltus.HybridAutomata;
block Transition "Leads from one location to another when its guard holds"
  input Boolean guard = true "Condition of the transition";
  input Boolean allowed = true "A synchronising event: fires only together with it";
  Interfaces.Entry from "The location that it leaves";
  Interfaces.Exit to "The location that it leads to";
  output Boolean ready "Would fire if allowed";
  output Boolean fired "In the pass in which it fires; an event for other automata";
equation
  ready = from.open and guard;
  fired = ready and allowed;
  from.fired = fired;
  to.fired = fired;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-8, 80}, {8, -80}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
      Line(points = {{-90, 0}, {-8, 0}}),
      Line(points = {{8, 0}, {90, 0}}, arrow = {Arrow.None, Arrow.Filled}),
      Text(extent = {{-100, 120}, {100, 90}}, textString = "%name"),
      Text(extent = {{-100, -90}, {100, -120}}, textString = "%guard")}),
    Documentation(info = "<html>
<p>Fires as soon as its location is active and its guard holds. <code>fired</code> is true in one pass of the event iteration, in which
<code>when fired then</code> resets variables.</p>
</html>"));
end Transition;
