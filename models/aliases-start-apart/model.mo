model AliasesStartApart "Equal discrete variables whose `pre` starts at two values (specification 8.6)"
  Boolean a(start = true, fixed = true);
  Boolean b(start = false, fixed = true);
  Integer falls(start = 0, fixed = true) "of a";
  Integer m(start = 5, fixed = true);
  Integer n(start = 3, fixed = true);
  Integer before(start = 0, fixed = true) "of m, when the run starts";
equation
  a = b;
  when sample(0.25, 0.5) then
    b = not pre(b);
  end when;
  when {initial(), not a} then
    falls = if not a and pre(a) then pre(falls) + 1 else pre(falls);
  end when;
  m = n;
  when b then
    n = pre(n) + 1;
  end when;
  when initial() then
    before = pre(m);
  end when;
end AliasesStartApart;
