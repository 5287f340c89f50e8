model RestitutionBall "A ball that bounces with a loss of speed"
  parameter Real mu = 0.85;
  parameter Real g = 9.81;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -g;
  when x < 0 then
    reinit(v, -mu*pre(v));
  end when;
end RestitutionBall;
