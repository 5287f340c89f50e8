model RectifierProducts "Half-wave rectifier; the ideal diode by products with its switch position"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u1, u2(start = 0, fixed = true), ud;
  Real i0, iR, iC;
  Real s(start = 1);
  Real mo = if s < 0 then 1 else 0;
equation
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  u0 = u1 + ud + u2;
  i0 = iC + iR;
  ud = mo*s;
  i0 = (1 - mo)*s;
end RectifierProducts;
