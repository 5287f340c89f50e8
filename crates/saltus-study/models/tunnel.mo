model Tunnel "An oscillator of an ideal tunnel diode (H9.10), an inductance and a source"
  parameter Real U0 = 0.25 "V";
  parameter Real L = 1 "H";
  parameter Real u1 = 0.1 "Peak, V";
  parameter Real i1 = 1 "Peak, A";
  parameter Real u2 = 0.4 "Valley, V";
  parameter Real i2 = 0.2 "Valley, A";
  parameter Real slope = 8 "Behind the valley, A/V";
  Real i(start = 1.1, fixed = true) "A";
  Real u "V";
  Real s(start = 2.1) "Curve parameter: 0 to 1 up to the peak, 1 to 2 down to the valley, then up again";
equation
  L*der(i) = U0 - u;
  u = if s < 1 then u1*s elseif s < 2 then u1 + (u2 - u1)*(s - 1) else u2 + (s - 2);
  i = if s < 1 then i1*s elseif s < 2 then i1 + (i2 - i1)*(s - 1) else i2 + slope*(s - 2);
end Tunnel;
