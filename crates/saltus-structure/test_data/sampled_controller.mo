model Sampled
  parameter Real T = 0.1, k = 2;
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0), e;
  Integer n(start = 0, fixed = true);
equation
  der(x) = -x + u;
  when sample(0, T) then
    e = 1 - x;
    u = pre(u) + k*e;
    n = pre(n) + 1;
  end when;
end Sampled;
