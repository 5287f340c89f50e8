model BooleanCounter "Three flip-flops in a row"
  Boolean tick(start = false, fixed = true);
  Boolean q[3](each start = false, each fixed = true);
  Integer value = (if q[1] then 1 else 0) + (if q[2] then 2 else 0) + (if q[3] then 4 else 0);
equation
  when sample(0.5, 0.5) then
    tick = not pre(tick);
  end when;
  when tick then
    q[1] = not pre(q[1]);
  end when;
  for k in 2:3 loop
    when not q[k - 1] then
      q[k] = not pre(q[k]);
    end when;
  end for;
end BooleanCounter;
