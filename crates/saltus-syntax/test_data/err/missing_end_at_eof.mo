package P
  model A
    Real x;
