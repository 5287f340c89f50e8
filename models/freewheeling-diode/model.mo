model FreewheelingDiode "A switch opens on an inductor, and the diode takes its current over"
  parameter Real L = 0.5;
  parameter Real R = 2;
  Real i(start = 0, fixed = true), iS, iD, uA;
  Real s "curve parameter of the diode";
equation
  uA = R*i + L*der(i);
  i = iS + iD;
  -uA = if s < 0 then s else 0;
  iD = if s < 0 then 0 else s;
  0 = if time < 1 then uA - 10 else iS;
end FreewheelingDiode;
