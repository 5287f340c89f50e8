model TransportProfile "A profile with a jump and kinks leaves a pipe while the velocity grows; behind it follows a smooth signal"
  Real x(start = 0, fixed = true) "Displacement";
  Real out1;
  Real w(start = 0, fixed = true) "Integral of the flow times what leaves";
  Real v = 0.5 + time "Velocity";
equation
  der(x) = v;
  (, out1) = spatialDistribution(cos(time), 0, x, true, {0, 0.25, 0.5, 0.5, 1}, {1, 3, 1, 2, 4});
  der(w) = out1*v;
  annotation(experiment(StopTime = 2));
end TransportProfile;
