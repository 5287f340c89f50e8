model StarPoint "Five phases into a star point that nothing else connects: no equation says by itself that the zero current is no state"
  parameter Real R = 2;
  parameter Real L0 = 0.1;
  Real e[5] = {10, 2*time, -3, 4, 1};
  Real i[5];
  Real v0 "Voltage over the zero inductance of each phase";
  Real i0 "Zero current";
  Real vs "Potential of the star point";
  Real charge(start = 0, fixed = true);
equation
  for k in 1:5 loop
    e[k] - R*i[k] - v0 = vs;
  end for;
  5*i0 = sum(i);
  v0 = L0*der(i0);
  i[1] + i[2] + i[3] + i[4] + i[5] = 0;
  der(charge) = i[2];
end StarPoint;
