model HysteresisElsewhen "Hysteresis with elsewhen"
  Real x(start = 2, fixed = true);
  Real w(start = 0, fixed = true);
  discrete Real y(start = 1, fixed = true);
equation
  der(x) = w;
  der(w) = -x;
  when x < -1 then
    y = -1;
  elsewhen x > 1 then
    y = 1;
  end when;
end HysteresisElsewhen;
