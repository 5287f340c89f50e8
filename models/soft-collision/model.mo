model SoftCollision "Two masses collide by a stiff spring (001, eqs. 3 and 4), beside the rigid elastic impact"
  parameter Real m1 = 1;
  parameter Real m2 = 2;
  parameter Real k = 1e6;
  Real x1(start = -0.5, fixed = true), v1(start = 1, fixed = true);
  Real x2(start = 0, fixed = true), v2(start = 0, fixed = true), Fc;
  Real y1(start = -0.5, fixed = true), w1(start = 1, fixed = true);
  Real y2(start = 0, fixed = true), w2(start = 0, fixed = true), F;
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = Fc;
  m2*der(v2) = -Fc;
  Fc = if x1 > x2 then k*(x2 - x1) else 0;
  der(y1) = w1;
  der(y2) = w2;
  m1*der(w1) = F;
  m2*der(w2) = -F;
  F = 0;
  when y1 >= y2 and w1 > w2 then
    Saltus.Impact.restitution(w1 - w2, 1, F);
  end when;
end SoftCollision;
