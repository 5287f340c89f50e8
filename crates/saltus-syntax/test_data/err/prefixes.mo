model M
  replaceable final Real x;
  input parameter Real y;
  parameter constant Real z;
  partial encapsulated model N end N;
  extends A(final each x = 1);
  pure model Q end Q;
  expandable model R end R;
end M;
