model Mistake
  Real x(start = 1);
equation
  der(x) = -2*y;
end Mistake;
