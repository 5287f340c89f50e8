model TransportReversal "A pipe whose flow turns: what leaves at both ends"
  parameter Real A = 0.8 "Amplitude of the displacement, in lengths of the pipe";
  Real x(start = 0, fixed = true) "Displacement";
  Real v = A*cos(time) "Velocity";
  Real out0, out1;
equation
  der(x) = v;
  (out0, out1) = spatialDistribution(2, 5, x, v >= 0, {0.0, 1.0}, {0.0, 1.0});
  annotation(experiment(StopTime = 7));
end TransportReversal;
