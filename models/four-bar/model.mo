model FourBar "Two points on three rods of length 1, 3 and 3, the outer ones turning about supports at a distance of 4"
  parameter Real g = 9.81;
  Real xa(start = 1);
  Real ya(start = 0, fixed = true);
  Real xb(start = 2.5);
  Real yb(start = 2.6);
  Real vxa(start = 0);
  Real vya(start = 10, fixed = true);
  Real vxb;
  Real vyb;
  Real crank, coupler, rocker "tensions by length";
  Real drift = abs(xa^2 + ya^2 - 1) + abs((xb - xa)^2 + (yb - ya)^2 - 9) + abs((xb - 4)^2 + yb^2 - 9);
  Real energy = (vxa^2 + vya^2 + vxb^2 + vyb^2)/2 + g*(ya + yb);
equation
  der(xa) = vxa;
  der(ya) = vya;
  der(xb) = vxb;
  der(yb) = vyb;
  der(vxa) = -crank*xa + coupler*(xb - xa);
  der(vya) = -crank*ya + coupler*(yb - ya) - g;
  der(vxb) = -coupler*(xb - xa) - rocker*(xb - 4);
  der(vyb) = -coupler*(yb - ya) - rocker*yb - g;
  xa^2 + ya^2 = 1;
  (xb - xa)^2 + (yb - ya)^2 = 9;
  (xb - 4)^2 + yb^2 = 9;
end FourBar;
