model NoFixedPoint
  Boolean b(start = false, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  b = not pre(b) and x > 0.5;
end NoFixedPoint;
