model DelayReflections "A wave on a lossless line between a source and a mismatched end, reflected at both"
  parameter Real T = 0.1 "Travelling time";
  parameter Real r0 = -0.5 "Reflection at the source";
  parameter Real r1 = 0.8 "Reflection at the end";
  Real forth "Wave leaving the source";
  Real back "Wave leaving the end";
  Real v = delay(forth, T) + back "Voltage at the end";
  Real w(start = 0, fixed = true) "Its integral";
equation
  forth = (if time < 0.05 then 0 else 1) + r0*delay(back, T);
  back = r1*delay(forth, T);
  der(w) = v;
end DelayReflections;
