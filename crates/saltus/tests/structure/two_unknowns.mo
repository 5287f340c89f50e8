model TwoUnknowns "Coefficients that may be zero: nothing can be torn, the equations are written out"
  Real x;
  Real y;
  Real sum = x + y;
equation
  sin(time)*x + cos(time)*y = 1;
  cos(time)*sum - (sin(time) + cos(time))*y = time;
end TwoUnknowns;
