model InitialAssert
  Real x(start = 1, fixed = true);
initial equation
  assert(x > 1.5, "x begins above 1.5");
equation
  der(x) = -x;
end InitialAssert;
