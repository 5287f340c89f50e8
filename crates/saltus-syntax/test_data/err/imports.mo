model M
  import A.B.{C, };
  import A.;
  import 3;
  import A.B.{C D};
  external "C" a.b(x);
  Real ok;
end M;
