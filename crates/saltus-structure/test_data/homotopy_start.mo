model HomotopyStart
  Real x(start = 1), y;
equation
  der(x) = y - x;
  homotopy(y^3 + y, 2*y) = x;
initial equation
  der(x) = 0;
end HomotopyStart;
