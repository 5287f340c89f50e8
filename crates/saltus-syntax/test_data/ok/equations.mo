model M
initial equation
  x = 1;
equation
  x + y = z "balance" annotation(u = 1);
  der(x) = -x;
  (a, , b) = f(x);
  (a) = g(x);
  () = h(x);
  if c then x = 1; elseif d then x = 2; y = 3; else end if;
  if c then x = 1; else x = 2; end if "chosen";
  for i in 1:3, j loop
    a[i, j] = i;
  end for;
  when {initial(), sample(0, 1)} then
    reinit(x, 0);
  elsewhen time > 3 then
    terminate("done");
  end when;
  connect(a.p[1], b.n) annotation(Line(points = {{0, 0}, {1, -1}}));
  assert(x > 0, "must be " + "positive", AssertionLevel.warning);
  Connections.root(p.R);
  (if time > 1 then 1 else 2) = x;
end M;
