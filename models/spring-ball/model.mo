model SpringBall "A ball that falls on a massless spring"
  parameter Real m = 200;
  parameter Real r = 2.5 "radius";
  parameter Real k = 10000;
  parameter Real g = 9.80665;
  Real y(start = 5, fixed = true);
  Real v(start = -2.5, fixed = true);
equation
  der(y) = v;
  m*der(v) = if y > r then -m*g else -k*(y - r) - m*g;
end SpringBall;
