model HysteresisVectorWhen "Hysteresis with a vector of conditions"
  Real x(start = 2, fixed = true);
  Real w(start = 0, fixed = true);
  discrete Real y(start = 1, fixed = true);
equation
  der(x) = w;
  der(w) = -x;
  when {x < -1, x > 1} then
    y = if x < 0 then -1 else 1;
  end when;
end HysteresisVectorWhen;
