model FreeParameter
  parameter Real p(fixed = false, start = 1);
  parameter Real q = 2*p;
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -p*x + q;
  y = p + x;
initial equation
  der(x) = 3;
end FreeParameter;
