model HysteresisInteger "Hysteresis with the left limit of an Integer"
  Real x(start = 2, fixed = true);
  Real w(start = 0, fixed = true);
  Integer y(start = 1, fixed = true);
equation
  der(x) = w;
  der(w) = -x;
  y = if x > 1 then 1 elseif x < -1 then -1 else pre(y);
end HysteresisInteger;
