model RealSolutionEnds
  Real x(start = 1);
  Real y;
equation
  x*y = 0.5 - time;
  x - y = 0;
end RealSolutionEnds;
