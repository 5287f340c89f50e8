model ReinitInitially "What is active at the start: `reinit` is an initial equation, `edge` and `change` compare with the start values (specification 3.7.5, 8.6)"
  Real x(start = 1);
  Boolean b(start = true, fixed = true);
  Integer falls(start = 0, fixed = true);
  Boolean first(start = false, fixed = true);
equation
  der(x) = 1;
  when initial() then
    reinit(x, 5);
  end when;
  b = time > 0.25;
  falls = if change(b) then pre(falls) + 1 else pre(falls);
  when initial() then
    first = change(b) and not edge(b);
  end when;
end ReinitInitially;
