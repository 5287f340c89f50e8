model FeasibleKernel "Freedom that the equations leave is used to stay inside the limits (001, section 6)"
  Real x(start = 3, min = 0, nominal = 3);
  Real y(start = 0.5, min = 0, nominal = 3) "The solution nearest to the start values has y = -0.75";
  Real u(start = 2) "Cannot be kept: exp(v) is not negative";
  Real v(start = 0.5, min = 0.3) "The shortest step leads to 0.18";
  Real sum = u^2 + exp(v);
  Real inside = if v >= 0.3 and y >= 0 then 1 else 0;
initial equation
  x + y = 1;
  2*x + 2*y = 2;
  u^2 + exp(v) = 2;
equation
  der(x) = 0;
  der(y) = 0;
  der(u) = 0;
  der(v) = 0;
end FeasibleKernel;
