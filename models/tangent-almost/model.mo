model TangentAlmost "A signal that rises above its limit for three milliseconds"
  Real x(start = 0, fixed = true);
  Real w(start = 1 + 1e-6, fixed = true);
  Integer region = if x > 1 then 1 else 0;
  Integer n(start = 0, fixed = true);
equation
  der(x) = w;
  der(w) = -x;
  when change(region) then
    n = pre(n) + 1;
  end when;
end TangentAlmost;
