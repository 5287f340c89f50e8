within Saltus.Mechanics.Examples;
model ClutchEngages "A clutch brings two inertias to one speed, is overloaded, and is opened"
  extends Icons.Example;
  Inertia motor(J = 1, phi(start = 0, fixed = true), w(start = 10, fixed = true)) "Driven";
  Inertia load(J = 3, phi(start = 0, fixed = true), w(start = 2, fixed = true)) "Follows";
  Clutch clutch(tauMax = 4, peak = 1.25, pressure = if time < 1 then 0 elseif time < 8 then 1 else 0) "Pressed from 1 s to 8 s";
  Torque torque(tau = if time < 4 then 0 elseif time < 6 then 4 else 10) "Of the motor";
equation
  connect(torque.shaft, motor.shaft_a);
  connect(motor.shaft_b, clutch.shaft_a);
  connect(clutch.shaft_b, load.shaft_a);
  annotation(
    experiment(StopTime = 9, Tolerance = 1e-10),
    Documentation(info = "<html><p>Slides from 1 s to 2.5 s, locks, and slides again from 6 s on, where it would have to carry 7.5 N.m.</p></html>"));
end ClutchEngages;
