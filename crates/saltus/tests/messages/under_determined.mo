model UnderDetermined
  Real x(start = 1, fixed = true);
  Real y;
  Real z;
equation
  der(x) = -x + y;
  z = 2*x;
end UnderDetermined;
