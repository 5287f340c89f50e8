function distance
  input Real x;
  input Real y;
  output Real r;
external "C" r = hypot(x, y);
end distance;

model ExternalGuide "A position that an external function prescribes: speed and acceleration by difference quotients, from a guess of zero"
  Real x(start = 1), v, a;
equation
  v = der(x);
  a = der(v);
  distance(x, 1) = sqrt(2) + 0.1*sin(time);
end ExternalGuide;
