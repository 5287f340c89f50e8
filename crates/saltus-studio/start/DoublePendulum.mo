model DoublePendulum "Two masses on rods, in Cartesian coordinates: constraints instead of angles"
  parameter Real L1(unit = "m", min = 0.3, max = 2) = 1, L2(unit = "m", min = 0.3, max = 2) = 1 "Lengths";
  parameter Real m1(unit = "kg", min = 0.1, max = 5) = 1, m2(unit = "kg", min = 0.1, max = 5) = 1 "Masses";
  parameter Real g(unit = "m/s2") = 9.81;
  Real x1(unit = "m", start = L1, fixed = true), y1(unit = "m", start = 0);
  Real x2(unit = "m", start = L1 + L2, fixed = true), y2(unit = "m", start = 0);
  Real u1(unit = "m/s", start = 0), v1(unit = "m/s", start = 0, fixed = true);
  Real u2(unit = "m/s", start = 0), v2(unit = "m/s", start = 0, fixed = true);
  Real F1(unit = "N/m"), F2(unit = "N/m") "Forces of the rods, by length";
  Real energy(unit = "J") = m1*(u1^2 + v1^2)/2 + m2*(u2^2 + v2^2)/2 + g*(m1*y1 + m2*y2);
equation
  der(x1) = u1;
  der(y1) = v1;
  der(x2) = u2;
  der(y2) = v2;
  m1*der(u1) = -F1*x1 + F2*(x2 - x1);
  m1*der(v1) = -F1*y1 + F2*(y2 - y1) - m1*g;
  m2*der(u2) = -F2*(x2 - x1);
  m2*der(v2) = -F2*(y2 - y1) - m2*g;
  x1^2 + y1^2 = L1^2;
  (x2 - x1)^2 + (y2 - y1)^2 = L2^2;
  annotation(experiment(StopTime = 8, Tolerance = 1e-7));
end DoublePendulum;
