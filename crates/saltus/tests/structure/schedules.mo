model Schedules "What derivatives need, what only crossing functions need, and what is computed for results alone"
  Real x(start = 1, fixed = true);
  Real needed = 2*x;
  Real crossed = x*x - 3;
  Real shown = sin(x) + crossed;
  Boolean above = crossed > shown;
  Integer count(start = 0, fixed = true);
equation
  der(x) = -needed;
  when above then
    count = pre(count) + 1;
  end when;
end Schedules;
