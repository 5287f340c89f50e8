model ZeroGain "A feedback with the gain 0 can be set to another gain without compiling again"
  parameter Real k = 0;
  Real x(start = 1, fixed = true), y, z;
equation
  der(x) = -y;
  y = x + k*z;
  y + k*y = 2*z;
end ZeroGain;
