package P
  model
    Real x;
  end;
  model 3
    Real y;
  end M;
  model N end N;
end P;
