model DelayEquation "x'(t) = -x(t - 1), x = 1 up to the start"
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, 1);
end DelayEquation;
