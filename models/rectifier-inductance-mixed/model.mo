model RectifierInductanceMixed "Half-wave rectifier with line inductance; the ideal diode as a parameterised curve, the integrator of the current as an equation"
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 1e-3;
  parameter Real L = 10e-3;
  Real u0 = 10*sin(2*3.14159265358979324*50*time);
  Real u2(start = 0, fixed = true), ud;
  Real i0(start = 0, fixed = true) annotation(__Saltus(inline = "trapezoidal"));
  Real iR, iC;
  Real s "curve parameter of the diode";
  Boolean off = s < 0;
equation
  u0 = Ri*i0 + L*der(i0) + ud + u2;
  u2 = RL*iR;
  iC = C*der(u2);
  i0 = iC + iR;
  ud = if off then s else 0;
  i0 = if off then 0 else s;
  annotation(__Saltus(inlineStep = 2e-5));
end RectifierInductanceMixed;
