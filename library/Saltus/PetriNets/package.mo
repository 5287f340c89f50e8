within Saltus;
package PetriNets "Normal priority Petri nets"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20),
      Ellipse(extent = {{-80, 30}, {-20, -30}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Ellipse(extent = {{-60, 10}, {-40, -10}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{30, 60}, {42, -60}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
      Line(points = {{-20, 0}, {30, 0}}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>A <em>place</em> holds one token or none (a normal net). A <em>transition</em> fires when its condition holds, all places before it hold a token, and all places after it are empty; it
takes the tokens before it and puts one into each place after it. Where several transitions compete for a place, the one that is connected first has priority (textbook section 9.13, equations 9.61 and 9.62).</p>
<p>All transitions whose conditions hold fire in one pass of the event iteration, as far as the priorities let them; passes follow each other until no token moves.</p>
<h4>Conditions of several relations</h4>
<ul>
<li><em>or</em>: parallel transitions between the same two places, one for each relation (<code>Examples.ParallelOr</code>);</li>
<li><em>and</em>: two transitions in series with an extra place between them, and one that leads back (<code>Examples.SerialAnd</code>).</li>
</ul>
<p>So each condition is a single relation, whose crossing function is smooth.</p>
<p>Priorities must not contradict each other: of two transitions that compete for two places, the same must come first at both.</p>
</html>"));
end PetriNets;
