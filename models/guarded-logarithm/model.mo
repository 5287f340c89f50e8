model GuardedLogarithm "The argument of a logarithm is an absolute value that goes through zero"
  Real x(start = 1, fixed = true);
  Real size = abs(x);
  Real z(start = 0, fixed = true);
equation
  der(x) = -1;
  der(z) = log10(max(1e-10, size));
end GuardedLogarithm;
