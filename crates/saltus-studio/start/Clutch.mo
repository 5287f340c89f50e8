model Clutch "An ideal clutch locks two inertias, and lets them go"
  parameter Real J1(unit = "kg.m2", min = 0.1, max = 10) = 1 "Inertia of the drive";
  parameter Real J2(unit = "kg.m2", min = 0.1, max = 10) = 3 "Inertia of the load";
  parameter Real torque(unit = "N.m", min = 0, max = 5) = 0.6 "Of the open clutch, which drags";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed of the drive";
  Real w2(unit = "rad/s", start = 2, fixed = true) "Speed of the load";
  Real tau(unit = "N.m") "Torque of the clutch";
  Real momentum(unit = "N.m.s") = J1*w1 + J2*w2;
equation
  J1*der(w1) = -tau;
  J2*der(w2) = tau;
  0 = if time < 1 or time >= 2 then tau - torque else w1 - w2;
  annotation(experiment(StopTime = 3));
end Clutch;
