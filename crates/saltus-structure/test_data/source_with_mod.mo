model Source
  parameter Real period = 0.5, start = 0.1;
  Real y, z;
  Real T_start(start = start);
  Integer count(start = 0);
equation
  when integer((time - start)/period) > pre(count) then
    count = pre(count) + 1;
    T_start = time;
  end when;
  y = if time < start then 0 else time - T_start;
  z = mod(time, period);
end Source;
