model FrictionBouncesOffStop "Sliding blocks strike a wall and turn back: friction is bounded and takes no impulse, in each formulation"
  import Saltus.Mechanics.*;
  Mass m[4](each m = 1, s(each start = 0, each fixed = true), v(each start = 3, each fixed = true));
  FrictionConstraint constraint(Fs = 2, Fd = 2);
  FrictionCurve curve(Fs = 2, Fd = 2);
  FrictionDFSM dfsm(Fs = 2, Fd = 2);
  FrictionNet net(Fs = 2, Fd = 2);
  EndStop stop[4](each gap = 0, each e = 0.5);
  Fixed ground, wall(s0 = 1);
equation
  connect(ground.flange, constraint.flange_a);
  connect(constraint.flange_b, m[1].flange_a);
  connect(ground.flange, curve.flange_a);
  connect(curve.flange_b, m[2].flange_a);
  connect(ground.flange, dfsm.flange_a);
  connect(dfsm.flange_b, m[3].flange_a);
  connect(ground.flange, net.flange_a);
  connect(net.flange_b, m[4].flange_a);
  connect(m.flange_b, stop.flange_a);
  for i in 1:4 loop
    connect(stop[i].flange_b, wall.flange);
  end for;
end FrictionBouncesOffStop;
