model RestitutionBallRests "A ball with coefficient of restitution, without a guard: infinitely many bounces until 5.57 s, then at rest"
  parameter Real mu = 0.85;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -9.81;
  when x < 0 then
    reinit(v, -mu*pre(v));
  end when;
end RestitutionBallRests;
