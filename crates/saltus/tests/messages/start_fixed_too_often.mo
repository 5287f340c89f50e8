model Contra2
  Real x(start = 1, fixed = true);
  Real y(start = 2, fixed = true);
initial equation
  x + y = 5;
equation
  der(x) = -x;
  der(y) = -y;
end Contra2;
