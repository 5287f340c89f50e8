model FrictionCurveSticks "Dry friction as a pure curve, speed and force by a parameter (Fig. 9.38): sticks and breaks away"
  parameter Real m = 1;
  parameter Real F0 = 2;
  Real v(start = 1, fixed = true), f, s "curve parameter";
equation
  m*der(v) = 2.5*sin(time) - f;
  v = if s > 1 then s - 1 elseif s < -1 then s + 1 else 0;
  f = if s > 1 then F0 elseif s < -1 then -F0 else F0*s;
end FrictionCurveSticks;
