model HarmonicOscillator
  parameter Real k = 4;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Real energy = (v*v + k*x*x)/2;
equation
  der(x) = v;
  der(v) = -k*x;
end HarmonicOscillator;
