model Asrt
  Real x(start = -1, fixed = true);
equation
  der(x) = -x;
  assert(x > 0, "x must be positive");
end Asrt;
