model FrictionStates "Dry friction as a machine of states (figures 9.21, 9.37; the lecture's model), one mass and a force that grows"
  parameter Real m = 5 "kg";
  parameter Real R = 8 "Sliding, N";
  parameter Real S = 10 "Sticking, N";
  Real x(start = 0, fixed = true) "m";
  Real v(start = 5, fixed = true) "m/s";
  Real a "m/s2";
  Real F = if time < 10 then -1.5*time else -15 "N";
  Real f "Friction, N";
  Real fc "Of the constraint, N";
  Boolean Forward(start = true, fixed = true);
  Boolean Backward(start = false, fixed = true);
  Boolean StartForward(start = false, fixed = true);
  Boolean StartBackward(start = false, fixed = true);
  Boolean Sticking(start = false, fixed = true);
  Integer mode = if Forward then 2 elseif StartForward then 1 elseif Sticking then 0 elseif StartBackward then -1 else -2;
equation
  der(x) = v;
  der(v) = a;
  m*a = F - f;
  f = if pre(Forward) or pre(StartForward) then R elseif pre(Backward) or pre(StartBackward) then -R else fc;
  0 = if pre(Sticking) then a else fc;
  Forward = pre(StartForward) and v > 0 or pre(Forward) and not v <= 0;
  Backward = pre(StartBackward) and v < 0 or pre(Backward) and not v >= 0;
  StartForward = pre(Sticking) and fc > S or pre(StartForward) and not (v > 0 or a <= 0 and not v > 0);
  StartBackward = pre(Sticking) and fc < -S or pre(StartBackward) and not (v < 0 or a >= 0 and not v < 0);
  Sticking = not (Forward or Backward or StartForward or StartBackward);
  when Sticking then
    reinit(v, 0);
  end when;
end FrictionStates;
