model M
equation
  x = a < b < c;
  y = a ^ b ^ c;
  z = a * -b;
  w = a + if b then c else d;
  v = a == not b;
  ok = 1;
end M;
