model M
equation
  x = 1;
  Real y;
  parameter Real z = 3;
  w = 2;
end M;
