function f
algorithm
  y = 3;
  z := 4;
  (a, b) = g(1);
end f;
