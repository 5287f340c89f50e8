model M
  Real x = pre(pre(time));
end M;
