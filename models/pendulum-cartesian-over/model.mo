model PendulumCartesianOver "A point on a rod in Cartesian coordinates that turns over"
  parameter Real g = 9.81;
  parameter Real L = 1;
  Real x(start = 0, fixed = true);
  Real y(start = -1);
  Real vx(start = 7, fixed = true);
  Real vy(start = 0);
  Real F "tension by mass and length";
  Real drift = x^2 + y^2 - L^2;
  Real energy = (vx^2 + vy^2)/2 + g*y;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - g;
  x^2 + y^2 = L^2;
end PendulumCartesianOver;
