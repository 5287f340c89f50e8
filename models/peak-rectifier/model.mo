model PeakRectifier "A source, an ideal diode, a capacitor and its load: no other resistance"
  parameter Real C = 1e-3;
  parameter Real R = 20;
  Real u = 10*sin(2*3.14159265358979324*50*time);
  Real v(start = 0, fixed = true), i, ud, s;
  Boolean off;
equation
  u = ud + v;
  i = C*der(v) + v/R;
  off = s < 0;
  ud = if off then s else 0;
  i = if off then 0 else s;
end PeakRectifier;
