model M
equation
  x := 3;
  y = 4;
end M;
