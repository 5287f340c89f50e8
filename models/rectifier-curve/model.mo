model RectifierCurve "Half-wave rectifier; the ideal diode as a curve with parameter s"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u1, u2(start = 0, fixed = true), ud;
  Real i0, iR, iC;
  Real s(start = 1);
equation
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  u0 = u1 + ud + u2;
  i0 = iC + iR;
  ud = if s < 0 then s else 0;
  i0 = if s < 0 then 0 else s;
end RectifierCurve;
