model StateByPivot "A point on a circle: y can be found from x, but x not from y at the start"
  Real x(start = 0, stateSelect = StateSelect.prefer);
  Real y(start = 1, stateSelect = StateSelect.prefer);
  Real s;
equation
  x^2 + y^2 = 1;
  s = 2*x;
  der(s) = 1;
end StateByPivot;
