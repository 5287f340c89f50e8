within Saltus;
package Mechanics "Bodies that slide, stick, lock and strike, along a line and around an axis"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20),
      Rectangle(extent = {{-30, 40}, {50, -20}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -20}, {80, -20}}),
      Line(points = {{-80, 10}, {-70, 10}, {-65, 20}, {-55, 0}, {-45, 20}, {-38, 10}, {-30, 10}})}),
    Documentation(info = "<html>
<p>Flanges carry a position and a force, shafts an angle and a torque; both fit the connectors of the Modelica Standard Library.</p>
<p>Dry friction comes in four formulations with the same answer: <code>FrictionConstraint</code> (a constraint on the velocity while the bodies stick), <code>FrictionDFSM</code> (a state
machine of six states), <code>FrictionCurve</code> (curves with a parameter, four states) and <code>FrictionNet</code> (a Petri net). The first has the fewest equations and keeps the velocity at exactly zero; the
others are the textbook's, for comparison.</p>
<p>No component has a stiffness, a damping or a dead band that is not among its parameters.</p>
</html>"));
end Mechanics;
