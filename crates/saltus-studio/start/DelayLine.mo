model DelayLine "A wave on a lossless line between a source and a mismatched end"
  parameter Real T(unit = "s", min = 0.02, max = 0.3) = 0.1 "Travelling time";
  parameter Real r0(min = -1, max = 1) = -0.5 "Reflection at the source";
  parameter Real r1(min = -1, max = 1) = 0.8 "Reflection at the end";
  Real forth(unit = "V") "Wave leaving the source";
  Real back(unit = "V") "Wave leaving the end";
  Real v(unit = "V") = delay(forth, T, 0.3) + back "Voltage at the end";
equation
  forth = (if time < 0.05 then 0 else 1) + r0*delay(back, T, 0.3);
  back = r1*delay(forth, T, 0.3);
  annotation(experiment(StopTime = 2));
end DelayLine;
