model TooFew
  Real x, y, z;
equation
  x + y = 3;
  x - y = 1;
end TooFew;
