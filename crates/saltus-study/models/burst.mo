model Burst "Two thyristors in opposite directions, fired during n of 8 periods of the line, with a load of resistance and inductance"
  parameter Real f = 50/3 "Hz";
  parameter Integer n = 5;
  parameter Real R = 1 "Ohm";
  parameter Real L = 0.005 "H";
  constant Real pi = 3.14159265358979324;
  Real v = sin(2*pi*f*time) "Source, V";
  Real u "Thyristors, V";
  Real i(start = 0, fixed = true) "Load, A";
  Real s "Parameter of their curve";
  discrete Integer period(start = 0, fixed = true) "Within the burst";
  Boolean fire(start = true, fixed = true);
  Boolean off(start = false, fixed = true);
equation
  when sample(1/f, 1/f) then
    period = if pre(period) == 7 then 0 else pre(period) + 1;
  end when;
  fire = period < n;
  off = not fire and (pre(off) or i >= 0);
  v = u + R*i + L*der(i);
  u = if off then s else 0;
  i = if off then 0 else s;
end Burst;
