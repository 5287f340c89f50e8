model PendulumAngle "A pendulum, released from the horizontal"
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real phi(start = 3.14159265358979324/2, fixed = true);
  Real w(start = 0, fixed = true);
  Real x = L*sin(phi);
  Real y = -L*cos(phi);
equation
  der(phi) = w;
  L*der(w) = -g*sin(phi);
end PendulumAngle;
