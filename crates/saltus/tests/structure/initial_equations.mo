model InitialEquations "At the start the speed is given and a parameter is an unknown"
  parameter Real k(fixed = false, start = 1);
  Real x(start = 2, fixed = true);
  Real v;
initial equation
  v = 0;
  der(v) = -8;
equation
  der(x) = v;
  der(v) = -k*x;
end InitialEquations;
