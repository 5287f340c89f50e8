model Zener "An ideal Zener diode as a parameterised curve (H9.9), behind a resistor"
  parameter Real uB = 5.1 "Breakdown, V";
  parameter Real R = 100 "Ohm";
  Real v = 10*sin(time) "Source, V";
  Real u "From cathode to anode, V";
  Real i "A";
  Real s(start = 1) "Curve parameter: current below 0, voltage up to uB, current above";
equation
  v = R*i + u;
  u = if s < 0 then 0 elseif s < uB then s else uB;
  i = if s < 0 then s elseif s < uB then 0 else s - uB;
end Zener;
