model ClippedDrive "A first-order lag driven by a force that is clipped on both sides (the if-expression of the lecture)"
  parameter Real w = 0.4 "Half-width of the ramp";
  parameter Real a = 1 "Largest force";
  Real y "Input";
  Real f "Force";
  Real x(start = 0, fixed = true) "Lag";
equation
  y = cos(2*time);
  f = if y < -w then -a else if y < w then a*y/w else a;
  der(x) = f - x;
end ClippedDrive;
