model Hysteresis
  Real x(start = 0, fixed = true);
  Boolean on(start = true, fixed = true);
equation
  on = x < -1 or pre(on) and x < 1;
  der(x) = if on then 1 else -1;
end Hysteresis;
