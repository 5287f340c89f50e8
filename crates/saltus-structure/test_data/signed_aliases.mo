model Signed
  Real a(start = 2, fixed = true), b, c, d, e;
equation
  a + b = 0;
  c = -b;
  -d = c;
  der(a) = d + e;
  e = -a;
end Signed;
