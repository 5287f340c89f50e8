model ZeroGain "A factor that is zero is no unknown's coefficient; it stays in the equations and can be set"
  parameter Real k = 0;
  Real x(start = 1, fixed = true), y, z;
equation
  der(x) = -y;
  y = x + k*z;
  y + k*y = 2*z;
end ZeroGain;
