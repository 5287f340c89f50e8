model Cradle "Newton's cradle: of five balls in a row the last takes the velocity of the first"
  parameter Integer n = 5;
  parameter Real m = 2;
  Real x[n](start = {-1, 0, 0, 0, 0}, each fixed = true), v[n](start = {1, 0, 0, 0, 0}, each fixed = true);
  Real F[n + 1] "left of each ball";
equation
  der(x) = v;
  F[1] = 0;
  F[n + 1] = 0;
  for k in 1:n loop
    m*der(v[k]) = F[k] - F[k + 1];
  end for;
  for k in 2:n loop
    F[k] = 0;
    when x[k - 1] >= x[k] and v[k - 1] > v[k] then
      Saltus.Impact.restitution(v[k - 1] - v[k], 1, F[k]);
    end when;
  end for;
end Cradle;
