package P
  model A
    Real x;
  model B
    Real y;
  end B;
end P;
