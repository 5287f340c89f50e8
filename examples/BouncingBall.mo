model BouncingBall "A ball falls on a table and loses part of its speed at every impact"
  parameter Real mu = 0.85 "Share of the speed that an impact leaves";
  constant Real g(unit = "m/s2") = 9.81 "Gravity";
  Real x(unit = "m") "Height";
  Real v(unit = "m/s") "Velocity, upwards";
initial equation
  x = 1;
  v = 0;
equation
  der(x) = v;
  der(v) = -g;
  when x < 0 then
    reinit(v, -mu*pre(v));
  end when;
  annotation(experiment(StopTime = 3));
end BouncingBall;
