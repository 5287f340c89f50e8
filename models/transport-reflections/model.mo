model TransportReflections "The wave of DelayReflections on a line that is two transports"
  parameter Real T = 0.1 "Travelling time";
  parameter Real r0 = -0.5 "Reflection at the source";
  parameter Real r1 = 0.8 "Reflection at the end";
  Real x(start = 0, fixed = true) "Way of the waves, in lengths of the line";
  Real forth "Wave leaving the source";
  Real arriving "The same at the end";
  Real back "Wave leaving the end";
  Real returning "The same at the source";
  Real v = arriving + back "Voltage at the end";
  Real w(start = 0, fixed = true) "Its integral";
equation
  der(x) = 1/T;
  forth = (if time < 0.05 then 0 else 1) + r0*returning;
  back = r1*arriving;
  (, arriving) = spatialDistribution(forth, 0, x, true);
  (returning, ) = spatialDistribution(0, back, -x, false);
  der(w) = v;
end TransportReflections;
