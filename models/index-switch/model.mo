model IndexSwitch "An algebraic equation becomes a differential one (001, example 2)"
  Real x(start = 1);
equation
  1 = if time < 0.5 then x else der(x);
end IndexSwitch;
