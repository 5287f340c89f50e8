model DiodeRectifier "A diode with small resistance and leakage, in series with a resistor"
  parameter Real Ron = 1e-3;
  parameter Real Goff = 1e-3;
  parameter Real R = 10;
  Real u = 10*sin(2*3.14159265358979324*time);
  Real v "voltage over the diode";
  Real i;
  Real s "position on the characteristic";
  Boolean off = s < 0;
equation
  v = s*(if off then 1 else Ron);
  i = s*(if off then Goff else 1);
  u = v + R*i;
end DiodeRectifier;
