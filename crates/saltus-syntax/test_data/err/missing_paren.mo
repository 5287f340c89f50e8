model M
  Real x(start = 1;
  Real y = f(1, 2;
  Real z = (1 + 2;
  Real ok;
end M;
