model FeasibleSolution "Of two solutions the one inside the limits, which the Newton step at the guess leads away from"
  Real x(start = 0.3, min = 0);
  Real y(start = 0.3, max = 0.5);
  Real t(start = 0, fixed = true);
equation
  der(t) = 1;
  x^2 - x - 2 = 0;
  y^2 - y - 2 = t;
end FeasibleSolution;
