model NoRealSolution
  Real x(start = 1);
  Real y;
equation
  y = x^2;
  y + 1 = 0;
end NoRealSolution;
