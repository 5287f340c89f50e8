model M
  Real x; /* no end
  Real y;
end M;
