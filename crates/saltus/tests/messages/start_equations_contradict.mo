model Contra
  Real x(start = 1);
  Real y(start = 2);
initial equation
  x + y = 5;
  x + y = 6;
equation
  der(x) = -x;
  der(y) = -y;
end Contra;
