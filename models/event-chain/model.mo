model EventChain "One event makes the next, in the same instant"
  Integer a(start = 0, fixed = true);
  Integer b(start = 0, fixed = true);
  Integer c(start = 0, fixed = true);
equation
  when pre(b) >= 2 then
    c = pre(c) + 1;
  end when;
  when a >= 2 then
    b = a;
  end when;
  when {time >= 1, time >= 2, time >= 3} then
    a = pre(a) + 1;
  end when;
end EventChain;
