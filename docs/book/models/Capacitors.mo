model Capacitors "Two charged capacitors are connected: charge is kept, energy is not"
  parameter Real C1 = 1e-3, C2 = 3e-3;
  Real u1(start = 8, fixed = true, unit = "V"), u2(start = 0, fixed = true, unit = "V");
  Real i(unit = "A") "from the first to the second";
  Real charge = C1*u1 + C2*u2;
equation
  C1*der(u1) = -i;
  C2*der(u2) = i;
  0 = if time < 0.5 then i else u1 - u2;
end Capacitors;
