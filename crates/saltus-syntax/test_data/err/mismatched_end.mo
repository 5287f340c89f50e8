package P
  model A
    Real x;
  end B;
  model C
    Real y;
  end C;
end P;
