model FrictionPetri "Dry friction as a normal priority Petri net (figure 9.43, conditions 9.64): six places, eleven transitions, one token"
  parameter Real m = 5 "kg";
  parameter Real R = 8 "Sliding, N";
  parameter Real S = 10 "Sticking, N";
  constant Integer start = 1, sticking = 2, startForward = 3, startBackward = 4, forward = 5, backward = 6 "Places";
  constant Integer from[11] = {1, 1, 1, 4, 3, 2, 2, 4, 3, 6, 5};
  constant Integer to[11] = {6, 5, 2, 6, 5, 4, 3, 2, 2, 2, 2};
  Real x(start = 0, fixed = true) "m";
  Real v(start = 5, fixed = true) "m/s";
  Real a "m/s2";
  Real F = if time < 10 then -1.5*time else -15 "N";
  Real f "Friction, N";
  Real s "Parameter of the curve while it sticks";
  Boolean p[6](start = {true, false, false, false, false, false}, each fixed = true) "Places with the token";
  Boolean c[11] "Conditions";
  Boolean fire[11] "Transitions";
  Integer place = sum(if p[k] then k else 0 for k in 1:6);
equation
  c[1] = v < 0;
  c[2] = v > 0;
  c[3] = not (v < 0 or v > 0);
  c[4] = v < 0;
  c[5] = v > 0;
  c[6] = s < -1;
  c[7] = s > 1;
  c[8] = s >= -1;
  c[9] = s <= 1;
  c[10] = v >= 0;
  c[11] = v <= 0;
  for t in 1:11 loop
    fire[t] = c[t] and pre(p[from[t]]) and sum(if fire[u] and from[u] == from[t] then 1 else 0 for u in 1:t - 1) == 0;
  end for;
  for k in 1:6 loop
    p[k] = pre(p[k]) and sum(if fire[t] and from[t] == k then 1 else 0 for t in 1:11) == 0
      or sum(if fire[t] and to[t] == k then 1 else 0 for t in 1:11) > 0;
  end for;
  der(x) = v;
  der(v) = a;
  m*a = F - f;
  f = if p[forward] or p[startForward] then R elseif p[backward] or p[startBackward] then -R else S*s;
  0 = if p[forward] or p[backward] then s
    elseif p[startForward] then a - (s - 1)
    elseif p[startBackward] then a - (s + 1)
    else a;
  when p[sticking] then
    reinit(v, 0);
  end when;
end FrictionPetri;
