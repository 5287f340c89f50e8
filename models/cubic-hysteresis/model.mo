model CubicHysteresis "A loop whose solution ends at a smooth fold, once on the way up and once on the way down"
  Real x(start = -1, fixed = true);
  Real y(start = -1.3);
equation
  der(x) = sin(time);
  y^3 - y = x;
end CubicHysteresis;
