model M
  Real x = 1 Real y;
  Real z;
end M;
