model M
  Real a = 1e;
  Real b = 2e+;
  Real c = 1e400;
  Integer d = 9223372036854775808;
  Real e = 1.2.3;
  Real f = 3x;
end M;
