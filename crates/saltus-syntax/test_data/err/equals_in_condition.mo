model M
equation
  if x = 3 then
    y = 4;
  end if;
  z = f(a = 1, (b = 2));
  ok = 1;
end M;
