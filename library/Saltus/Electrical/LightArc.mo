within Saltus.Electrical;
model LightArc "Simplified light arc between two electrodes"
  extends Interfaces.OnePort;
  parameter Units.Voltage Von = 25e3 "Ignites above this voltage (25 kV per cm)";
  parameter Units.Voltage Voff = 5e3 "Voltage at which it goes out (5 kV per cm)";
  parameter Units.Current Imin = 1 "Current at which it goes out";
  final parameter Units.Resistance R = Voff/Imin "Resistance at large currents";
  final parameter Units.Power P = Voff*Imin "Power at small currents";
  Integer state(start = 0, fixed = true, min = 0, max = 3) "0 no arc, 1 ignites, 2 resistance, 3 fixed power";
  Boolean reverse(start = false, fixed = true) "Burns from n to p";
  Units.Voltage u = if reverse then -v else v "Voltage in the direction of the arc";
  Units.Current j = if reverse then -i else i "Current in the direction of the arc";
protected
  Boolean above(start = false, fixed = true) "Enough to ignite from p to n";
  Boolean below(start = false, fixed = true) "Enough to ignite from n to p";
equation
  above = v > Von;
  below = v < -Von;
  reverse = if pre(state) == 0 and pre(above) then false elseif pre(state) == 0 and pre(below) then true else pre(reverse);
  state = if pre(state) == 0 then (if pre(above) or pre(below) then 1 else 0)
    elseif pre(state) == 1 then (if j < Imin then 3 else 2)
    elseif pre(state) == 2 then (if j < Imin then (if u > Von then 3 else 0) else 2)
    elseif j > Imin then 2 elseif j < 0 then 0 else 3;
  0 = if state == 0 then i elseif state == 3 then u - (if j < P/Von then Von else P/j) else u - R*j;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-50, 12}, {-26, -12}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
      Ellipse(extent = {{26, 12}, {50, -12}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-26, 0}, {-10, 14}, {-2, -10}, {8, 12}, {26, 0}}, color = {255, 128, 0})}),
    Documentation(info = "<html>
<p>Exercise 12 of the lecture. No current until the voltage reaches <code>Von</code>. At currents above <code>Imin</code> the arc is a resistance <code>Voff/Imin</code>; it goes out where
the current falls to <code>Imin</code>. At smaller currents its power is fixed, <code>u j = Voff Imin</code>, with a voltage of at most <code>Von</code>.</p>
<p>Without an inductance the ignited arc takes the resistance at once, if the circuit then gives it more than <code>Imin</code>. With one, the current begins at zero: the arc passes through the range of
fixed power. It does not go out at <code>Imin</code> either: the inductance answers with a voltage above <code>Von</code>, so that the arc burns on, at fixed power, until the current is zero.</p>
</html>"));
end LightArc;
