model BallsTwo "Two balls: one is at rest while the other still bounces"
  parameter Integer n = 2;
  parameter Real mu[n] = {0.5, 0.7};
  Real x[n](each start = 1, each fixed = true);
  Real v[n](each start = 0, each fixed = true);
equation
  der(x) = v;
  for i in 1:n loop
    der(v[i]) = -9.81;
    when x[i] < 0 then
      reinit(v[i], -mu[i]*pre(v[i]));
    end when;
  end for;
end BallsTwo;
