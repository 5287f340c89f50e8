model SwitchDivider "A voltage divider with a switch over its lower resistance, in both spellings of the switch equation"
  parameter Real R1 = 10;
  parameter Real R2 = 30;
  Real U0 = 20 + time;
  Real u1, u2, i1, i2, iS;
  Real v1, v2, j1, j2, jS;
  Boolean open = time > 0.25 and time < 0.75;
  Real mo = if open then 1 else 0;
equation
  u1 = R1*i1;
  u2 = R2*i2;
  U0 = u1 + u2;
  i1 = i2 + iS;
  0 = mo*iS + (1 - mo)*u2;
  v1 = R1*j1;
  v2 = R2*j2;
  U0 = v1 + v2;
  j1 = j2 + jS;
  0 = if open then jS else v2;
end SwitchDivider;
