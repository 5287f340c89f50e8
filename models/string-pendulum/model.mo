model StringPendulum "A mass on a string, in Cartesian coordinates: falls freely while the string is slack"
  parameter Real m = 1;
  parameter Real g = 9.81;
  parameter Real L = 1;
  Real x(start = 0.5, fixed = true), y(start = 0.8, fixed = true);
  Real vx(start = 0, fixed = true), vy(start = 0, fixed = true);
  Real F "in the string, per length";
  Real energy = m*(vx^2 + vy^2)/2 + m*g*y;
  Boolean taut(start = false, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x;
  m*der(vy) = -F*y - m*g;
  taut = if pre(taut) then F >= 0 else x^2 + y^2 >= L^2;
  0 = if taut then x^2 + y^2 - L^2 else F;
end StringPendulum;
