model Multivibrator "A Schmitt trigger that charges its own input"
  parameter Real V = 15 "Limit of the output";
  parameter Real V0 = 15000 "Amplification";
  parameter Real a = 0.5 "Part of the output that is fed back";
  Real v(start = 0, fixed = true);
  Real y(start = V);
equation
  der(v) = y - v;
  y = noEvent(if V0*(a*y - v) > V then V else if V0*(a*y - v) < -V then -V else V0*(a*y - v));
end Multivibrator;
