function distance
  input Real x;
  input Real y;
  output Real r;
external "C" r = hypot(x, y);
end distance;

model ExternalConstraint "The pendulum with its constraint in an external function: index 3, twice differentiated by difference quotients"
  parameter Real g = 9.81;
  parameter Real L = 1;
  Real x(start = 1);
  Real y(start = 0, fixed = true);
  Real vx(start = 0);
  Real vy(start = 0, fixed = true);
  Real F "tension by mass and length";
  Real drift = x^2 + y^2 - L^2;
  Real energy = (vx^2 + vy^2)/2 + g*y;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - g;
  distance(x, y) = L;
end ExternalConstraint;
