model RectifierInductanceProducts "Half-wave rectifier with line inductance; the ideal diode by products"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  parameter Real L = 10e-3;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u2(start = 0, fixed = true), ud;
  Real i0(start = 0, fixed = true), iR, iC;
  Integer m(start = 0, fixed = true) "1: open";
equation
  u0 = Ri*i0 + L*der(i0) + ud + u2;
  u2 = RL*iR;
  iC = C*der(u2);
  i0 = iC + iR;
  0 = m*i0 + (1 - m)*ud;
  m = if pre(m) == 1 then (if ud <= 0 then 1 else 0) else (if i0 < 0 then 1 else 0);
end RectifierInductanceProducts;
