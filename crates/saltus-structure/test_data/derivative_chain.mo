model Chain
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), a, minus_v;
  Real z(start = 1, fixed = true);
equation
  der(x) = v;
  der(v) = a;
  a = -x;
  minus_v = -der(x);
  der(z) = z;
end Chain;
