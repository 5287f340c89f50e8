model SwitchOpensInductor "An ideal switch opens while the inductor carries a current"
  parameter Real R = 2;
  parameter Real L = 0.5;
  Real i(start = 0, fixed = true), uL, uS;
equation
  10 = R*i + uL + uS;
  uL = L*der(i);
  0 = if time < 1 then uS else i;
end SwitchOpensInductor;
