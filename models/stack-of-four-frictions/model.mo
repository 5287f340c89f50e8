model StackOfFourFrictions "Three blocks on each other on rough ground, pulled at the top, in each formulation; the limits coincide while the lowest slides"
  import Saltus.Mechanics.*;
  partial model Stack
    Mass b[3](m = {3, 2, 1}, s(each start = 0, each fixed = true), v(each start = 0, each fixed = true));
    replaceable FrictionConstraint fr[3] constrainedby Interfaces.Friction;
    Fixed ground;
    Force F(f = 3.9*sin(time) + 2*sin(2.37*time));
  equation
    connect(ground.flange, fr[1].flange_a);
    connect(fr.flange_b, b.flange_a);
    connect(fr[2:3].flange_a, b[1:2].flange_b);
    connect(F.flange, b[3].flange_b);
  end Stack;
  model Constraint
    extends Stack(fr(Fs = {1, 2.5, 3.5}, Fd = {1, 2.5, 3.5}));
  end Constraint;
  model Curve
    extends Stack(redeclare FrictionCurve fr[3](Fs = {1, 2.5, 3.5}, Fd = {1, 2.5, 3.5}));
  end Curve;
  model DFSM
    extends Stack(redeclare FrictionDFSM fr[3](Fs = {1, 2.5, 3.5}, Fd = {1, 2.5, 3.5}));
  end DFSM;
  model Net
    extends Stack(redeclare FrictionNet fr[3](Fs = {1, 2.5, 3.5}, Fd = {1, 2.5, 3.5}));
  end Net;
  Constraint constraint;
  Curve curve;
  DFSM dfsm;
  Net net;
end StackOfFourFrictions;
