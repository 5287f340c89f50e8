model PreOfContinuous
  Real x(start = 0), y;
equation
  der(x) = 1;
  y = pre(x);
end PreOfContinuous;
