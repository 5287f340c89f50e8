model IndexSwitchBack "A differential equation becomes an algebraic one and a differential one again"
  Real x(start = 0, fixed = true);
equation
  if time < 0.5 or time >= 0.75 then
    der(x) = 10;
  else
    x = -5;
  end if;
end IndexSwitchBack;
