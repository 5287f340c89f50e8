model Redundant
  Real x(start = 1, fixed = true), y(start = 2, fixed = true), z(start = 5);
equation
  der(x) = -x;
  y = 2*x;
  der(z) = 1;
end Redundant;
