model Limiter "A signal cut off on both sides"
  Real x(start = 2, fixed = true);
  Real w(start = 0, fixed = true);
  Real y;
equation
  der(x) = w;
  der(w) = -x;
  y = if x < -1 then -1 elseif x > 1 then 1 else x;
end Limiter;
