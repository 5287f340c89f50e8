model M
  A a(1);
  B b(x y);
  C c(x[1] = 2);
  D d(redeclare model E Real x; end E);
  F f(x = 1,);
  extends G "text";
  Real ok;
end M;
