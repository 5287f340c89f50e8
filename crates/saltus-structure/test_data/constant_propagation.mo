model Constants
  parameter Real p = 2;
  Real a, b, c, d, x(start = 1), r, phi, w;
equation
  a = 0;
  b = a*x + 3;
  c - b = 0;
  d = p*c;
  der(x) = a*sin(x) + d - x;
  r = 2*p + 1;
  phi = r;
  w = der(phi);
end Constants;
