model InitialAssertAlgorithm
  Real x(start = 1, fixed = true);
  parameter Real p(fixed = false);
initial algorithm
  p := 1;
  assert(x > 1.5, "x begins above 1.5");
equation
  der(x) = -p*x;
end InitialAssertAlgorithm;
