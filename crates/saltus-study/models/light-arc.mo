model LightArc "A light arc of 1 cm between a source and its resistance (exercise 12 of the lecture)"
  parameter Real von = 25e3 "Ignition, V";
  parameter Real voff = 5e3 "Extinction, V";
  parameter Real imin = 1 "Extinction, A";
  parameter Real Rs = 5e3 "Of the source, Ohm";
  parameter Real V = 30e3 "Peak of the source, V";
  constant Real pi = 3.14159265358979324;
  Real v = V*sin(2*pi*50*time) "Source, V";
  Real u "Arc, V";
  Real i "A";
  Boolean burns(start = false, fixed = true);
equation
  v = Rs*i + u;
  0 = if pre(burns) then u - voff/imin*i else i;
  burns = if pre(burns) then not abs(i) < imin else abs(u) > von;
end LightArc;
