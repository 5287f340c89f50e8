model BooleanSample
  Boolean tick, both, b(start = false);
  Integer n(start = 0);
equation
  tick = sample(0, 1);
  both = tick and b;
  b = time > 2;
  when both then
    n = pre(n) + 1;
  end when;
end BooleanSample;
