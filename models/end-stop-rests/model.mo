model EndStopRests "A block bounces at a stop, rests there while a force holds it, and lifts off where the force passes zero"
  import Saltus.Mechanics.*;
  Mass m(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
  Fixed w(s0 = 0.7);
  EndStop st(gap = 0, e = 0.4);
  Force F;
equation
  F.f = 5*sin(1.3*time);
  connect(m.flange_b, st.flange_a);
  connect(st.flange_b, w.flange);
  connect(F.flange, m.flange_b);
end EndStopRests;
