model Masses "A mass strikes another that rests against a third"
  Real x[3](start = {0, 1, 1}, each fixed = true, each unit = "m");
  Real v[3](start = {2, 0, 0}, each fixed = true, each unit = "m/s");
  Real F[2](each unit = "m/s2") "contact forces for each mass: zero but for the instant of an impact";
  Real momentum = v[1] + v[2] + v[3];
equation
  der(x) = v;
  der(v[1]) = -F[1];
  der(v[2]) = F[1] - F[2];
  der(v[3]) = F[2];
  F[1] = 0;
  F[2] = 0;
  when x[1] >= x[2] and v[1] > v[2] then
    Saltus.Impact.restitution(v[1] - v[2], 1, F[1]);
  end when;
  when x[2] >= x[3] and v[2] > v[3] then
    Saltus.Impact.restitution(v[2] - v[3], 1, F[2]);
  end when;
end Masses;
