model BallOnMovingTable "A ball comes to rest on a table that moves up and down, its guard in a Boolean variable, beside a sampler of 1 ms; the table then leaves it behind"
  Real x(start = 2, fixed = true);
  Real v(start = 0, fixed = true);
  Real s "Height of the table";
  Real w "Its velocity";
  Boolean hit;
  Real held(start = 0, fixed = true);
equation
  s = 0.1*sin(2*time) - (if time > 4 then 6*(time - 4)^2 else 0);
  w = 0.2*cos(2*time) - (if time > 4 then 12*(time - 4) else 0);
  der(x) = v;
  der(v) = -9.81;
  hit = x <= s and v < w;
  when hit then
    reinit(v, w - 0.5*(v - w));
  end when;
  when sample(0, 1e-3) then
    held = x;
  end when;
end BallOnMovingTable;
