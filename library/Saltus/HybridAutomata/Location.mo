within Saltus.HybridAutomata;
block Location "One of the alternatives of an automaton"
  parameter Boolean isInitial = false "The automaton begins here";
  parameter Boolean priorities = false "Of transitions that could fire together the one connected first does; otherwise that is an error";
  parameter Integer nIn(min = 0) = 1 "Number of transitions that lead here";
  parameter Integer nOut(min = 0) = 1 "Number of transitions that lead away";
  input Boolean enclosing = true "The location that contains this automaton is active";
  output Boolean active(start = isInitial, fixed = true) "The automaton is here";
  output Boolean entered "In the pass in which it becomes active";
  Interfaces.Arrival arrival[nIn] "From transitions";
  Interfaces.Departure departure[nOut] "To transitions";
protected
  Boolean surrounded(start = false, fixed = true) "The enclosing location was active in the pass before";
  Integer n[nOut + 1] "Transitions that lead away, up to each of them";
  Boolean some[nIn + 1] "A transition leads here, up to each of them";
  Boolean left = n[nOut + 1] > 0 "A transition leads away";
  Boolean reached = some[nIn + 1] "A transition leads here";
equation
  surrounded = enclosing;
  n[1] = 0;
  for i in 1:nOut loop
    departure[i].open = pre(active) and enclosing and not (priorities and n[i] > 0);
    n[i + 1] = n[i] + (if departure[i].fired then 1 else 0);
  end for;
  some[1] = false;
  for i in 1:nIn loop
    some[i + 1] = some[i] or arrival[i].fired;
  end for;
  active = enclosing and (reached or pre(active) and not left or isInitial and not pre(surrounded));
  entered = active and (not pre(active) or reached);
  assert(n[nOut + 1] <= 1, "two transitions leave a location at once: give the location priorities = true, or make their guards exclude each other");
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-90, 60}, {90, -60}}, lineColor = {0, 0, 0}, fillColor = DynamicSelect({255, 255, 255}, if active then {160, 215, 160} else {255, 255, 255}), fillPattern = FillPattern.Solid),
      Ellipse(extent = {{-80, 50}, {80, -50}}, lineColor = {0, 0, 0}, visible = isInitial),
      Text(extent = {{-80, 20}, {80, -20}}, textString = "%name")}),
    Documentation(info = "<html>
<p><code>active</code> holds while the automaton is in this location; <code>entered</code> in the pass of the event in which a transition leads here, also from the location
itself. A transition can fire in the pass after the location was reached: a chain of transitions whose guards hold is passed at one instant.</p>
</html>"));
end Location;
