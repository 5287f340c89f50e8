model BuckConverter "A step-down converter with an ideal switch and an ideal diode"
  parameter Real duty(min = 0.05, max = 0.95) = 0.4 "Share of a period in which the switch is closed";
  parameter Real f(unit = "Hz") = 20e3 "Switching frequency";
  parameter Real V(unit = "V") = 24 "Supply";
  parameter Real Lf(unit = "H", min = 2e-5, max = 1e-3) = 1e-4 "Inductance";
  parameter Real C(unit = "F") = 4.7e-5 "Capacitance";
  parameter Real R(unit = "Ohm", min = 1, max = 200) = 5 "Load";
  Real i(unit = "A", start = 0, fixed = true) "Current of the coil";
  Real v(unit = "V", start = 0, fixed = true) "Output voltage";
  Real u(unit = "V") "Before the coil";
  Real s(start = -1) "Along the diode's curve: negative where it blocks";
  Real iDiode(unit = "A"), iSwitch(unit = "A");
  Boolean on = f*time - floor(f*time) < duty;
equation
  Lf*der(i) = u - v;
  C*der(v) = i - v/R;
  i = iSwitch + iDiode;
  iDiode = if s > 0 then s else 0;
  -u = if s > 0 then 0 else s;
  0 = if on then u - V else iSwitch;
  annotation(experiment(StopTime = 2e-3));
end BuckConverter;
