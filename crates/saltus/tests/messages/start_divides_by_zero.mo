model Divz2
  Real x(start = 0, fixed = true);
  Real i;
equation
  der(x) = 1;
  i = if x < 0.5 then 1/x else x;
end Divz2;
