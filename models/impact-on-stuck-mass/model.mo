model ImpactOnStuckMass "A ball strikes a mass that dry friction holds: friction is bounded and takes no impulse"
  parameter Real m1 = 1;
  parameter Real m2 = 2;
  parameter Real R = 8 "sliding";
  parameter Real S = 10 "sticking";
  Real x1(start = 0, fixed = true), v1(start = 3, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real F "of the contact", f "friction";
  Integer mode(start = 0, fixed = true) "1 forward, -1 backward, 0 stuck";
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -F;
  m2*der(v2) = F - f;
  F = 0;
  when x1 >= x2 and v1 > v2 then
    Saltus.Impact.restitution(v1 - v2, 0.5, F);
  end when;
  mode = if pre(mode) == 1 then (if v2 < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v2 > 0 then 0 else -1)
    elseif f > S then 1 elseif f < -S then -1 else 0;
  0 = if mode == 0 then v2 else f - mode*R;
end ImpactOnStuckMass;
