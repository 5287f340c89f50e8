model TunnelDiode "Oscillator with an ideal tunnel diode beside a capacitor. Its curve ends in an upright branch, on which the voltage is no state any more"
  parameter Real V = 0.25, R = 5, L = 1e-3, C = 1e-6;
  parameter Real Vp = 0.1 "Peak", Ip = 0.02, Vv = 0.5 "Valley", Iv = 0.004;
  Real i(start = 0, fixed = true), v(start = 0, fixed = true), id;
  Real s "Place on the curve";
equation
  V = R*i + L*der(i) + v;
  C*der(v) = i - id;
  v = if s < 0 then s elseif s < 1 then Vp*s elseif s < 2 then Vp + (Vv - Vp)*(s - 1) else Vv;
  id = if s < 0 then 0 elseif s < 1 then Ip*s elseif s < 2 then Ip + (Iv - Ip)*(s - 1) else Iv + (s - 2);
end TunnelDiode;
