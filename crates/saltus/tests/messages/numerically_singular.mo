model NumericallySingular
  parameter Real a = 2;
  Real x;
  Real y;
equation
  x + a*y = time;
  2*x + 4*y = 1 + time;
end NumericallySingular;
