model M
  Real x = sum(k for k in 1:2147483648);
end M;
