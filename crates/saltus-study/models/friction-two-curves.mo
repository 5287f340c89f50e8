model FrictionTwoCurves "Dry friction with a curve of the acceleration while it sticks, and three states (figures 9.39, 9.40; H9.11)"
  parameter Real m = 5 "kg";
  parameter Real R = 8 "Sliding, N";
  parameter Real S = 8 "Sticking, N";
  Real x(start = 0, fixed = true) "m";
  Real v(start = 5, fixed = true) "m/s";
  Real a "m/s2";
  Real F = if time < 10 then -1.5*time else -15 "N";
  Real f "Friction, N";
  Real s "Parameter of the curve";
  Integer mode(start = 1, fixed = true) "1 forward, 0 sticking and about to move, -1 backward";
equation
  der(x) = v;
  der(v) = a;
  m*a = F - f;
  f = if pre(mode) == 1 then R elseif pre(mode) == -1 then -R else (if s > 1 then R elseif s < -1 then -R else S*s);
  0 = if pre(mode) == 0 then a - (if s > 1 then s - 1 elseif s < -1 then s + 1 else 0) else s;
  mode = if pre(mode) == 1 then (if v < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
    elseif s > 1 and v > 0 then 1 elseif s < -1 and v < 0 then -1 else 0;
  when mode == 0 then
    reinit(v, 0);
  end when;
end FrictionTwoCurves;
