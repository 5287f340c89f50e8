model Steady "a steady state that does not exist"
  Real x(start = 1), y(start=2);
initial equation
  der(x) = 0;
  der(y) = 0;
equation
  der(x) = 1 - y;
  der(y) = y + 1;
end Steady;
