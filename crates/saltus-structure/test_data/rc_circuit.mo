model RC
  parameter Real R = 10, C = 0.1, U = 5;
  Real 'r.v', 'r.i', 'r.p.v', 'r.p.i', 'r.n.v', 'r.n.i';
  Real 'c.v'(start = 0, fixed = true), 'c.i', 'c.p.v', 'c.p.i', 'c.n.v', 'c.n.i';
  Real 's.v', 's.i', 's.p.v', 's.p.i', 's.n.v', 's.n.i';
  Real 'g.p.v', 'g.p.i';
equation
  'r.v' = 'r.p.v' - 'r.n.v'; 'r.p.i' + 'r.n.i' = 0; 'r.i' = 'r.p.i'; 'r.v' = R*'r.i';
  'c.v' = 'c.p.v' - 'c.n.v'; 'c.p.i' + 'c.n.i' = 0; 'c.i' = 'c.p.i'; C*der('c.v') = 'c.i';
  's.v' = 's.p.v' - 's.n.v'; 's.p.i' + 's.n.i' = 0; 's.i' = 's.p.i'; 's.v' = U;
  'g.p.v' = 0;
  's.p.v' = 'r.p.v'; 's.p.i' + 'r.p.i' = 0;
  'r.n.v' = 'c.p.v'; 'r.n.i' + 'c.p.i' = 0;
  'c.n.v' = 's.n.v'; 'c.n.v' = 'g.p.v'; 'c.n.i' + 's.n.i' + 'g.p.i' = 0;
end RC;
