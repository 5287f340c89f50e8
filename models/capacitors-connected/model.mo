model CapacitorsConnected "A switch connects two charged capacitors"
  parameter Real C1 = 1;
  parameter Real C2 = 2;
  Real u1(start = 5, fixed = true), u2(start = 1, fixed = true), i;
  Real charge = C1*u1 + C2*u2;
equation
  C1*der(u1) = -i;
  C2*der(u2) = i;
  0 = if time < 1 or time >= 2 then i - 0.3 else u1 - u2;
end CapacitorsConnected;
