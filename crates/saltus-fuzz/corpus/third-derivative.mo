model M
  Real x(start = 1);
  Real y;
equation
  der(x) = -x;
  y = der(der(der(x)));
end M;
