model FrictionAboveLimitAtStart "Blocks at rest under a force above the limit of friction slide from the start, in each formulation"
  import Saltus.Mechanics.*;
  Mass m[4](each m = 1, s(each start = 0, each fixed = true), v(each start = 0, each fixed = true));
  FrictionConstraint constraint(Fs = 2, Fd = 2);
  FrictionCurve curve(Fs = 2, Fd = 2);
  FrictionDFSM dfsm(Fs = 2, Fd = 2);
  FrictionNet net(Fs = 2, Fd = 2);
  Mass held(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true)) "Below the limit";
  Mass moving(m = 1, s(start = 0, fixed = true), v(start = 1, fixed = true));
  FrictionConstraint holds(Fs = 6, Fd = 6), brakes(Fs = 2, Fd = 2);
  Fixed ground;
  Force F[5](each f = 5);
equation
  connect(ground.flange, constraint.flange_a);
  connect(constraint.flange_b, m[1].flange_a);
  connect(ground.flange, curve.flange_a);
  connect(curve.flange_b, m[2].flange_a);
  connect(ground.flange, dfsm.flange_a);
  connect(dfsm.flange_b, m[3].flange_a);
  connect(ground.flange, net.flange_a);
  connect(net.flange_b, m[4].flange_a);
  connect(ground.flange, holds.flange_a);
  connect(holds.flange_b, held.flange_a);
  connect(ground.flange, brakes.flange_a);
  connect(brakes.flange_b, moving.flange_a);
  connect(F[1:4].flange, m.flange_b);
  connect(F[5].flange, held.flange_b);
end FrictionAboveLimitAtStart;
