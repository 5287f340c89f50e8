model FrictionTwoMasses "Stick and slip of a mass pulled by a spring, with the constraint on the velocity"
  parameter Real m1 = 5;
  parameter Real m2 = 100;
  parameter Real k = 50;
  parameter Real R = 8;
  parameter Real S = 10;
  Real x1(start = 0, fixed = true), v1(start = 0, fixed = true);
  Real x2(start = 0, fixed = true), v2(start = 1, fixed = true);
  Real f, Fs = k*(x2 - x1);
  Integer mode(start = 0, fixed = true);
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = Fs - f;
  m2*der(v2) = -Fs;
  mode = if pre(mode) == 1 then (if v1 < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v1 > 0 then 0 else -1)
    elseif f > S then 1 elseif f < -S then -1 else 0;
  0 = if mode == 0 then v1 else f - mode*R;
end FrictionTwoMasses;
