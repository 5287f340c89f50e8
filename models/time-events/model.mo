model TimeEvents "Relations in time only are a calendar, not a search"
  parameter Real t1 = 0.3;
  Real u = if time < t1 then 0 elseif time < 2*t1 then 1 else -1;
  Real x(start = 0, fixed = true);
  Boolean pulse = time >= 1 and time < 1.25;
equation
  der(x) = u + (if pulse then 4 else 0);
end TimeEvents;
