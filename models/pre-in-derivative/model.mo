model PreInDerivative "Derivatives read left limits of discrete variables, which change at a time event and at a state event"
  Real x(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
  Real z(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Integer m(start = 0, fixed = true);
equation
  when time >= 1 then
    n = pre(n) + 1;
  end when;
  der(x) = if pre(n) == 0 then 1 else -2;
  der(y) = 1;
  when y > 2 then
    m = pre(m) + 1;
  end when;
  der(z) = if pre(m) == 0 then 1 else -1;
end PreInDerivative;
