model Series "While both block, their voltages are free; together they are the source's"
  Real u = 100*sin(314*time), i, v1, v2, s1(start = -1), s2(start = -1);
  Boolean fire = sample(1/300, 0.02);
  Boolean off1(start = true, fixed = true) = s1 < 0 or pre(off1) and not fire;
  Boolean off2(start = true, fixed = true) = s2 < 0 or pre(off2) and not fire;
equation
  u = v1 + v2 + 10*i + 0.05*der(i);
  v1 = if off1 then s1 else 0;
  i = if off1 then 0 else s1;
  v2 = if off2 then s2 else 0;
  i = if off2 then 0 else s2;
end Series;
