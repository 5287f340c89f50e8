model ClockedController "A clocked partition beside a continuous one"
  Real x(start = 0, fixed = true);
  Real measured = sample(x, Clock(1, 10));
  Real sum(start = 0);
  Real u;
equation
  der(x) = hold(u);
  sum = previous(sum) + measured;
  u = 1 - measured - 0.1*sum;
end ClockedController;
