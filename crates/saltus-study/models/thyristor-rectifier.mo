model ThyristorRectifier "A thyristor instead of the diode of the half-wave rectifier (H9.7), fired from 30 to 45 and from 210 to 225 degrees"
  parameter Real Ri = 10 "Ohm";
  parameter Real RL = 50 "Ohm";
  parameter Real C = 1e-3 "F";
  constant Real pi = 3.14159265358979324;
  Real u0 = 10*sin(2*pi*50*time) "V";
  Real u2(start = 0, fixed = true) "Load, V";
  Real i0 "A";
  Real ud "V";
  Real s(start = -1) "Curve parameter";
  Real phase = 360*mod(50*time, 1) "Degrees";
  Boolean fire = phase > 30 and phase < 45 or phase > 210 and phase < 225;
  Boolean off(start = true, fixed = true);
equation
  off = s < 0 or pre(off) and not fire;
  ud = if off then s else 0;
  i0 = if off then 0 else s;
  u0 = Ri*i0 + ud + u2;
  i0 = C*der(u2) + u2/RL;
end ThyristorRectifier;
