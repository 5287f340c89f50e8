model LimiterOfTime "The same limiter on a function of time"
  Real x = 2*cos(time);
  Real y = if x < -1 then -1 elseif x > 1 then 1 else x;
end LimiterOfTime;
