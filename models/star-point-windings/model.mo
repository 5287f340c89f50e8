model StarPointWindings "Windings before a star point that nothing else connects: the number of turns stands between its currents and the zero current"
  parameter Real n = 3 "Turns";
  parameter Real R = 2;
  parameter Real L0 = 0.1;
  Real e[3] = {10, 2*time, -4};
  Real i[3] "Currents of the windings";
  Real j[3] "Currents into the star point";
  Real v0 "Voltage over the zero inductance of each phase";
  Real i0 "Zero current";
  Real vs "Potential of the star point";
  Real charge(start = 0, fixed = true);
equation
  for k in 1:3 loop
    e[k] - R*i[k] - v0 = vs/n;
    n*i[k] = -j[k];
  end for;
  3*i0 = sum(i);
  v0 = L0*der(i0);
  j[1] + j[2] + j[3] = 0;
  der(charge) = i[2];
end StarPointWindings;
