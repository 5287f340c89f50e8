within Saltus;
package HybridAutomata "Locations and transitions, with equations of their own in every location"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-80, 60}, {-10, -10}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Ellipse(extent = {{10, 10}, {80, -60}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-10, 25}, {45, 25}, {45, 10}}, arrow = {Arrow.None, Arrow.Filled}),
      Line(points = {{10, -25}, {-45, -25}, {-45, -10}}, arrow = {Arrow.None, Arrow.Filled})}),
    Documentation(info = "<html>
<p>A hybrid automaton is in one of its <em>locations</em>; in each the continuous variables obey equations of that location. A <em>transition</em> leads from one
location to another when its guard holds, and may reset variables.</p>
<h4>Equations of a location</h4>
<p>They are written in the model that contains the automaton, as branches of <code>if</code>:</p>
<pre>
if taut.active then
  der(phi) = omega;
else
  phi = atan2(x, y);
end if;
</pre>
<p>While the location is not active, <code>phi</code> is not a state: the run has exactly the states of the active locations. An equation for the
inactive branch is needed, because Modelica has as many equations as unknowns; written as above it is the reset map at the same time: the state begins where the
equation has left it.</p>
<h4>Resets</h4>
<p>By such an equation, or by <code>reinit</code> in <code>when transition.fired then</code>; discrete variables and parameters that are to change are assigned there too.</p>
<h4>Composition</h4>
<ul>
<li>XOR: the locations of an automaton. A location that contains another automaton gives its <code>active</code> to the inner locations as <code>enclosing</code>:
the inner automaton begins in its initial location whenever the outer one is entered, and has no active location while it is not.</li>
<li>AND: automata side by side.</li>
<li>Synchronising events: <code>fired</code> of one transition is <code>allowed</code> of others; they fire in the same pass of the event, or not at all. A rendezvous, in which
each waits for the other: <code>a.allowed = b.ready; b.allowed = a.ready</code>.</li>
</ul>
<p>Two transitions that could leave a location in the same pass are an error, unless the location has <code>priorities = true</code>: then the one connected first fires.</p>
</html>"));
end HybridAutomata;
