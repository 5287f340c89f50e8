within Saltus.Mechanics.Examples;
model BrakeHolds "A brake stops a shaft, holds it, and is overcome by a growing torque"
  extends Icons.Example;
  Inertia inertia(J = 2, phi(start = 0, fixed = true), w(start = 6, fixed = true)) "Turns";
  Brake brake(tauMax = 4, peak = 1.5, pressure = 1) "Always pressed";
  Torque torque(tau = time/2) "Grows";
equation
  connect(torque.shaft, inertia.shaft_a);
  connect(inertia.shaft_b, brake.shaft_a);
  annotation(
    experiment(StopTime = 16, Tolerance = 1e-10),
    Documentation(info = "<html><p>Stops at 4 s, and slides again from 12 s on, where the torque is one and a half times the sliding one.</p></html>"));
end BrakeHolds;
