model NonlinearLoop "Two equations that must be solved together"
  Real x(start = 0.5);
  Real y;
equation
  x + y = 2 + time;
  y = exp(x);
end NonlinearLoop;
