model M
  Real output;
  Real initial = 3;
  Real x = model + 1;
  Real end;
  Real ok;
end M;
