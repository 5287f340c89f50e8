model M
equation
  if a then
    x = 1;
  else if b then
    x = 2;
  end if;
end M;
