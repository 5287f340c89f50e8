model RectifierLeaky "Half-wave rectifier with line inductance and a leaky diode (figures 9.31, 9.33)"
  parameter Real Ri = 10 "Ohm";
  parameter Real RL = 50 "Ohm";
  parameter Real C = 1e-3 "F";
  parameter Real L = 10e-3 "H";
  parameter Real R0 = 1e-4 "Of the closed diode, Ohm";
  parameter Real G0 = 1e-4 "Of the open diode, S";
  constant Real pi = 3.14159265358979324;
  Real u0 = 10*sin(2*pi*50*time) "V";
  Real u2(start = 0, fixed = true) "V";
  Real i0(start = 0, fixed = true) "A";
  Real ud "V";
  Real s "Curve parameter";
equation
  u0 = Ri*i0 + L*der(i0) + ud + u2;
  i0 = C*der(u2) + u2/RL;
  ud = if s < 0 then s else R0*s;
  i0 = if s < 0 then G0*s else s;
end RectifierLeaky;
