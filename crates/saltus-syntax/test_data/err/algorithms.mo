function f
algorithm
  x;
  1 := x;
  connect(a, b);
  (a + 1, b) := g(x);
  (a, b) := c;
  for i = 1:3 loop
    y := 1;
  end for;
  while x < 1
    y := 2;
  end while;
  Real z;
  ok := 1;
equation
  return;
end f;
