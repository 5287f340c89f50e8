model M
  Real x;
  x = 3;
  der(x) = 1;
  connect(a, b);
  y(1);
equation
  x = 1;
end M;
