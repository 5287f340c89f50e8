model SlidingRelay "x' = -sign(x) + 0.5 sin t reaches x = 0 and stays: the equivalent value of the sign is 0.5 sin t"
  Real x(start = 1, fixed = true);
  Real u;
equation
  u = sign(x);
  der(x) = -u + 0.5*sin(time);
end SlidingRelay;
