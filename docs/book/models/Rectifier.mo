model Rectifier "Half-wave rectifier: source, inductance, ideal diode, capacitor and load"
  parameter Real L = 0.01, R = 10, C = 1e-3, load = 50;
  Real u0 = sin(2*3.141592653589793*50*time) "source";
  Real i0(unit = "A") "current through diode and inductance";
  Real ud(unit = "V") "voltage over the diode";
  Real u2(start = 0, fixed = true, unit = "V") "voltage of the capacitor";
  Real s "runs along the diode's curve: voltage where it blocks, current where it conducts";
  Boolean off = s < 0;
equation
  u0 = R*i0 + L*der(i0) + ud + u2;
  ud = if off then s else 0;
  i0 = if off then 0 else s;
  C*der(u2) = i0 - u2/load;
end Rectifier;
