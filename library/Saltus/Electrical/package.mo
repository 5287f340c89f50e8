within Saltus;
package Electrical "Circuits with ideal switches and devices with several branches"
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, radius = 20),
      Polygon(points = {{-30, 35}, {30, 0}, {-30, -35}, {-30, 35}}, lineColor = {0, 0, 255}),
      Line(points = {{30, 35}, {30, -35}}, color = {0, 0, 255}),
      Line(points = {{-80, 0}, {80, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html>
<p>Pins carry a potential and a current, as those of the Modelica Standard Library. Ideal devices have neither a resistance while they conduct nor a conductance while they block; only <code>LeakyDiode</code> has
both, as parameters. In a circuit with an inductor in front of a diode the current is a state while the diode conducts, and none while it blocks.</p>
<p>A device with several branches is written as a curve with a parameter <code>s</code>: voltage and current are both functions of it (textbook section 9.9).</p>
</html>"));
end Electrical;
