model ThreeMasses "Three masses meet at an instant (001, example 3)"
  parameter Real m[3] = {1, 2, 3};
  parameter Real c = 0.6 "of restitution, both stops";
  Real x[3](start = {0, 1, 1.5}, each fixed = true), v[3](start = {3, 1, 0}, each fixed = true);
  Real F1, F2 "of the contacts";
  Real momentum = m*v;
equation
  der(x) = v;
  m[1]*der(v[1]) = -F1;
  m[2]*der(v[2]) = F1 - F2;
  m[3]*der(v[3]) = F2;
  F1 = 0;
  F2 = 0;
  when x[1] >= x[2] and v[1] > v[2] then
    Saltus.Impact.restitution(v[1] - v[2], c, F1);
  end when;
  when x[2] >= x[3] and v[2] > v[3] then
    Saltus.Impact.restitution(v[2] - v[3], c, F2);
  end when;
end ThreeMasses;
