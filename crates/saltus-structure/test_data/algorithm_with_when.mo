model AlgorithmWhen
  Real x(start = 0, fixed = true), y;
  discrete Real d(start = 1);
  Integer n(start = 0);
equation
  der(x) = 1;
algorithm
  when {initial(), x > 1, sample(0, 0.25)} then
    n := pre(n) + 1;
    d := if x > 0.5 then x else 2*n;
  end when;
algorithm
  y := 1;
  if x > 2 then
    y := y + d;
  end if;
end AlgorithmWhen;
