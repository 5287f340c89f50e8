model ThyristorLoad "An ideal thyristor, fired at 30 degrees of every period, with a load of resistance and inductance (textbook 9.2)"
  parameter Real f = 50/3;
  parameter Real alpha = 30 "firing angle, degrees";
  parameter Real R = 1;
  parameter Real L = 0.015;
  constant Real pi = 3.14159265358979324;
  Real v = sin(2*pi*f*time) "source";
  Real i "load";
  Real u "thyristor";
  Real s(start = -1) "parameter of its curve";
  Boolean fire = sample(alpha/360/f, 1/f);
  Boolean off(start = true, fixed = true);
equation
  v = u + R*i + L*der(i);
  off = s < 0 or pre(off) and not fire;
  u = if off then s else 0;
  i = if off then 0 else s;
end ThyristorLoad;
