model IdealDiodeInductance "Half-wave rectifier with a line inductance and an ideal diode"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  parameter Real L = 0.01;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u1, u2(start = 0, fixed = true), ud, uL;
  Real i0(start = 0, fixed = true), iR, iC;
  Real s;
  Real mo = if s < 0 then 1 else 0;
equation
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  uL = L*der(i0);
  u0 = uL + u1 + ud + u2;
  i0 = iC + iR;
  ud = mo*s;
  i0 = (1 - mo)*s;
end IdealDiodeInductance;
