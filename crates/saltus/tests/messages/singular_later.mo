model SingularLater
  Real k = if time < 0.5 then 1 else 0;
  Real i1;
  Real i2;
equation
  i1 + k*i2 = 1;
  i1 - k*i2 = 1 - time;
end SingularLater;
