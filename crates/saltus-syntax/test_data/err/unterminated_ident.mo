model M
  Real 'no end;
  Real y;
end M;
