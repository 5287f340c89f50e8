model OutputNeverReached "Variables of a loop without passes and of a branch that is never taken keep what they start with (specification 11.1.2)"
  parameter Integer N = 0;
  Integer n(start = 4);
  Real z(start = 2);
  Integer k(start = 3);
  Real y;
algorithm
  for i in 1:N loop
    n := i;
  end for;
  if N > 1 then
    k := 7;
  end if;
  y := n + time;
algorithm
  if false then
    z := 3;
  end if;
end OutputNeverReached;
