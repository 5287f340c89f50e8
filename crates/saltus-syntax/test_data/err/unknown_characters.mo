model M
  Real größe = 1;
  Boolean b = !c;
  Boolean d = c && e;
  Real x = 3 $ 4;
  Real y = “text”;
  Boolean z = a != b;
  Real ok;
end M;
