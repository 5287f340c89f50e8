model SampleBesideFloor
  "Ticks stay at multiples of the interval beside a time event whose direction only the run knows"
  parameter Real period = 0.1;
  Integer count = integer(time/period);
  Integer n(start = 0, fixed = true) "Number of the next tick";
  discrete Real off(start = 0, fixed = true) "Largest distance of a tick from its time, in 1e-18 s";
equation
  when sample(0, period) then
    n = pre(n) + 1;
    off = max(pre(off), 1e18*abs(time - pre(n)*period));
  end when;
end SampleBesideFloor;
