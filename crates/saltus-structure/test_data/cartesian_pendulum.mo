model Pendulum
  parameter Real L = 1, g = 9.81, m = 1;
  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), F;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/L;
  m*der(vy) = -F*y/L - m*g;
  x^2 + y^2 = L^2;
end Pendulum;
