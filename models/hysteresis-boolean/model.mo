model HysteresisBoolean "Hysteresis with the left limit of a Boolean"
  Real x(start = 2, fixed = true);
  Real w(start = 0, fixed = true);
  Boolean up(start = true, fixed = true);
  Real y;
equation
  der(x) = w;
  der(w) = -x;
  up = x > 1 or pre(up) and x >= -1;
  y = if up then 1 else -1;
end HysteresisBoolean;
