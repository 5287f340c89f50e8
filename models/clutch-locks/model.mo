model ClutchLocks "An ideal clutch locks two inertias, and lets them go"
  parameter Real J1 = 1;
  parameter Real J2 = 3;
  Real w1(start = 10, fixed = true), w2(start = 2, fixed = true), tau;
  Real momentum = J1*w1 + J2*w2;
equation
  J1*der(w1) = -tau;
  J2*der(w2) = tau;
  0 = if time < 1 or time >= 2 then tau - 0.6 else w1 - w2;
end ClutchLocks;
