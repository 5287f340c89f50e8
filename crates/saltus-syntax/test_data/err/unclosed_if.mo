model M
equation
  if a then
    x = 1;
  for i in 1:3 loop
    y[i] = 1;
  end if;
  z = 1;
end M;
model N
equation
  when a then
    if b then
      x = 1;
end N;
