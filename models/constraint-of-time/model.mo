model ConstraintOfTime "x2 is given by the derivative of an algebraic equation (001, example 1)"
  Real x1;
  Real x2;
equation
  x1 = time;
  x2 = der(x1);
end ConstraintOfTime;
