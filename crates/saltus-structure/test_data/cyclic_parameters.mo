model Cyclic
  parameter Real a = 2*b, b = c + 1, c = a, d = 3;
  Real x = d;
end Cyclic;
