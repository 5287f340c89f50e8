model SpringBall "A heavy ball on a spring floor: free flight and contact alternate, no energy is lost"
  parameter Real m(unit = "kg") = 200 "Mass";
  parameter Real r(unit = "m") = 2.5 "Radius: contact at this height of the centre";
  parameter Real k(unit = "N/m") = 10000 "Stiffness of the contact";
  parameter Real g(unit = "m/s2") = 9.80665 "Gravity";
  Real y(unit = "m", start = 5, fixed = true) "Height of the centre";
  Real v(unit = "m/s", start = -2.5, fixed = true) "Velocity, upwards";
  Real force(unit = "N") "Contact force";
  Real energy(unit = "J");
equation
  der(y) = v;
  m*der(v) = force - m*g;
  force = if y > r then 0 else -k*(y - r);
  energy = m*g*y + m*v^2/2 + (if y > r then 0 else k*(y - r)^2/2);
  annotation(experiment(StopTime = 10, Tolerance = 1e-9));
end SpringBall;
