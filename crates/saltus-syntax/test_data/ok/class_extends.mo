model M
  extends N;
  redeclare model extends A(x = 3, y(start = 1)) "more of A"
    Real z;
  end A;
  redeclare replaceable function extends f
  end f;
end M;
