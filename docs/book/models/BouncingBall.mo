model BouncingBall "A ball that loses 15 % of its speed at every bounce"
  parameter Real mu = 0.85 "speed after a bounce by speed before it";
  Real x(start = 1, fixed = true, unit = "m") "height";
  Real v(start = 0, fixed = true, unit = "m/s") "speed upwards";
equation
  der(x) = v;
  der(v) = -9.81;
  when x < 0 then
    reinit(v, -mu*pre(v));
  end when;
end BouncingBall;
