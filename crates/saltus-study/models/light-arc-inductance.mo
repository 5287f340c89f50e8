model LightArcInductance "The light arc with an inductance: the current grows after the ignition, and is cut off at the extinction"
  parameter Real von = 25e3 "Ignition, V";
  parameter Real voff = 5e3 "Extinction, V";
  parameter Real imin = 1 "Extinction, A";
  parameter Real Rs = 5e3 "Of the source, Ohm";
  parameter Real L = 5 "H";
  parameter Real V = 30e3 "Peak of the source, V";
  constant Real pi = 3.14159265358979324;
  Real v = V*sin(2*pi*50*time) "Source, V";
  Real u "Arc, V";
  Real i "A";
  Integer mode(start = 0, fixed = true) "0 off, 1 ignited, 2 burns with more than imin";
equation
  v = Rs*i + L*der(i) + u;
  0 = if pre(mode) > 0 then u - voff/imin*i else i;
  mode = if pre(mode) == 0 then (if abs(u) > von then 1 else 0)
    elseif pre(mode) == 1 then (if abs(i) > imin then 2 else 1)
    elseif abs(i) < imin then 0 else 2;
end LightArcInductance;
