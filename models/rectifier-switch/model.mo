model RectifierSwitch "Half-wave rectifier; the ideal diode as a switch equation and a rule for its position"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u1, u2(start = 0, fixed = true), ud;
  Real i0, iR, iC;
  Boolean open(start = false, fixed = true);
equation
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  u0 = u1 + ud + u2;
  i0 = iC + iR;
  0 = if open then i0 else ud;
  open = if pre(open) then ud <= 0 else i0 < 0;
end RectifierSwitch;
