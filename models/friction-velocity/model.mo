model FrictionVelocity "Dry friction with the constraint on the velocity, one mass"
  parameter Real m = 5;
  parameter Real R = 8 "sliding";
  parameter Real S = 10 "sticking";
  Real x(start = 0, fixed = true), v(start = 5, fixed = true);
  Real F = if time < 10 then -1.5*time else -15;
  Real f "friction";
  Integer mode(start = 1, fixed = true) "1 forward, -1 backward, 0 stuck";
equation
  der(x) = v;
  m*der(v) = F - f;
  mode = if pre(mode) == 1 then (if v < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
    elseif f > S then 1 elseif f < -S then -1 else 0;
  0 = if mode == 0 then v else f - mode*R;
end FrictionVelocity;
