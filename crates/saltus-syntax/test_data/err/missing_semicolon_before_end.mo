model M
equation
  x = 1
end M;
