model M
  Real x "a
b"; // c
equation
  x = 1;
end M;
