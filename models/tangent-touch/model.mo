model TangentTouch "A signal that touches its limits and turns back"
  Real x = sin(time);
  Real y = if x < -1 then -1 elseif x > 1 then 1 else x;
  Integer region = if x < -1 then -1 elseif x > 1 then 1 else 0;
end TangentTouch;
