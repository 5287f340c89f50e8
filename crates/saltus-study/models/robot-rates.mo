model RobotRates "A joint and four controllers with four rates; each takes what the slower one has just said"
  parameter Real T1 = 0.005 "Stabiliser, s";
  parameter Real T2 = 0.01 "Trajectory, s";
  parameter Real T3 = 0.02 "Path, s";
  parameter Real T4 = 1 "Task, s";
  Real q(start = 0, fixed = true) "Angle, rad";
  Real w(start = 0, fixed = true) "Speed, rad/s";
  discrete Real target(start = 0, fixed = true) "Of the task, rad";
  discrete Real wanted(start = 0, fixed = true) "Angle on the path, rad";
  discrete Real speed(start = 0, fixed = true) "Of the trajectory, rad/s";
  discrete Real u(start = 0, fixed = true) "Acceleration of the motor, rad/s2";
equation
  der(q) = w;
  der(w) = u;
  when sample(0, T1) then
    u = 40*(speed - w);
  end when;
  when sample(0, T2) then
    speed = 6*(wanted - q);
  end when;
  when sample(0, T3) then
    wanted = pre(wanted) + min(0.02, max(-0.02, target - pre(wanted)));
  end when;
  when sample(0, T4) then
    target = if pre(target) > 0.5 then 0 else 1;
  end when;
end RobotRates;
