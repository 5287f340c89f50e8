model SmoothRelease "A block leaves a rigid stop where the force passes zero: the first derivative of the gap that is not zero is the third"
  Real s(start = 0, fixed = true), v(start = 0, fixed = true), N, q, F;
equation
  F = 5*sin(1.3*time);
  der(s) = v;
  der(v) = F - N;
  0.7 - s = if q > 0 then q else 0;
  N = if q > 0 then 0 else -q;
end SmoothRelease;
