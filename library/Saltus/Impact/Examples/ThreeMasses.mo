within Saltus.Impact.Examples;
model ThreeMasses "Three masses meet at one instant: both laws of restitution hold together"
  extends Icons.Example;
  parameter Units.Mass m[3] = {1, 2, 3} "Masses";
  parameter Real c(unit = "1") = 0.6 "Coefficient of restitution of both contacts";
  Units.Position x[3](start = {0, 1, 1.5}, each fixed = true) "Positions";
  Units.Velocity v[3](start = {3, 1, 0}, each fixed = true) "Velocities";
  Units.Force F[2] "Of the contacts";
equation
  der(x) = v;
  m[1]*der(v[1]) = -F[1];
  m[2]*der(v[2]) = F[1] - F[2];
  m[3]*der(v[3]) = F[2];
  F = {0, 0};
  when x[1] >= x[2] and v[1] > v[2] then
    restitution(v[1] - v[2], c, F[1]);
  end when;
  when x[2] >= x[3] and v[2] > v[3] then
    restitution(v[2] - v[3], c, F[2]);
  end when;
  annotation(
    experiment(StopTime = 1, Tolerance = 1e-10),
    Documentation(info = "<html><p>The masses meet at 0.5 s, and go on at -7/15, 11/15 and 4/3 m/s.</p></html>"));
end ThreeMasses;
