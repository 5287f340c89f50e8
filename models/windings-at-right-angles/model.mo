model WindingsAtRightAngles "Two fluxes and two windings: the cosine of a right angle, 6e-17, is no pivot"
  parameter Real angle[2] = {0, acos(-1)/2};
  parameter Real N = 100;
  parameter Real Nre[2] = {N*cos(a) for a in angle};
  parameter Real Nim[2] = {N*sin(a) for a in angle};
  Real re(start = 0, fixed = true), im(start = 0, fixed = true) "Fluxes";
  Real v[2] = {300*cos(time), 300*sin(time)};
equation
  for k in 1:2 loop
    v[k] = Nre[k]*der(re) + Nim[k]*der(im);
  end for;
end WindingsAtRightAngles;
