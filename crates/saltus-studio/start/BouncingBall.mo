model BouncingBall "A ball falls, bounces ever lower, and rests"
  parameter Real g(unit = "m/s2", min = 0.5, max = 30) = 9.81 "Gravity";
  parameter Real e(min = 0, max = 1) = 0.7 "Coefficient of restitution";
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 3));
end BouncingBall;
