function f
  input Real x;
  output Real y;
initial algorithm
  y := 0;
algorithm
  y := x^2 "square";
  a.b[1, end].c := {1};
  (u, , v[2]) := g(x, k = 3);
  (w) := g(x);
  h(x);
  .Top.h();
  if x > 0 then return; elseif x < -1 then y := 1; else break; end if;
  for i loop y := y + i; end for;
  for i in {1, 3}, j in 1:i loop end for;
  while y < 10 loop y := y + 1; end while;
  when x > 1 then y := 2; elsewhen x > 2 then y := 3; end when;
end f;
