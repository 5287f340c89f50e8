model OpenedSwitch "An ideal switch opens while the inductor carries a current"
  parameter Real R = 2, L = 0.5;
  Real i(start = 0, fixed = true, unit = "A");
  Real uL(unit = "V"), uS(unit = "V") "voltages of inductor and switch";
equation
  10 = R*i + uL + uS;
  uL = L*der(i);
  0 = if time < 1 then uS else i;
end OpenedSwitch;
