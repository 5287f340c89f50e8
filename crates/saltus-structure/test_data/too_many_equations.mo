model TooMany
  Real x, y;
equation
  x + y = 3;
  x - y = 1;
  x = 2*y;
end TooMany;
