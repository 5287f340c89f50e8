model LinearLoop "A ladder of resistors"
  parameter Integer n = 6;
  Real v[n];
equation
  v[1] = 1 + time;
  for k in 2:n - 1 loop
    2*v[k] = v[k - 1] + v[k + 1];
  end for;
  v[n] = 0;
end LinearLoop;
