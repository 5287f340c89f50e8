model SampleOnce "A sample whose interval is larger than any time ticks once"
  parameter Real never = 1.7976931348623157e308;
  discrete Real tick(start = -1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  when sample(0.5, never) then
    tick = time;
    n = pre(n) + 1;
  end when;
end SampleOnce;
