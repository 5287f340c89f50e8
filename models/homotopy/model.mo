model Homotopy "A start value far off, reached along a simpler equation"
  Real x(start = 0);
  Real y;
equation
  y = homotopy(actual = x^3 - 2*x - 5, simplified = x - 2);
  y = time;
end Homotopy;
