model Nos
  Real x(start = 1);
initial equation
  x^2 = -1;
equation
  der(x) = -x;
end Nos;
