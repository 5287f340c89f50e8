model FrictionPureCurve "Dry friction as one curve of speed and force (figure 9.38): sticking force equal to sliding force"
  parameter Real m = 5 "kg";
  parameter Real R = 8 "N";
  Real x(start = 0, fixed = true) "m";
  Real v(start = 5, fixed = true) "m/s";
  Real F = if time < 10 then -1.5*time else -15 "N";
  Real f "Friction, N";
  Real s "Parameter of the curve";
equation
  der(x) = v;
  m*der(v) = F - f;
  v = if s > 1 then s - 1 elseif s < -1 then s + 1 else 0;
  f = if s > 1 then R elseif s < -1 then -R else R*s;
end FrictionPureCurve;
