model BallLowRestitution "A ball that keeps a tenth of its speed, on a table at height 1: after some bounces less is left than floating-point numbers resolve"
  parameter Real mu = 0.1;
  parameter Real H = 1;
  Real x(start = H + 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -9.81;
  when x < H then
    reinit(v, -mu*pre(v));
  end when;
end BallLowRestitution;
