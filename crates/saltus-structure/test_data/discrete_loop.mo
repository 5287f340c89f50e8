model DiscreteLoop
  Boolean a, b, c;
equation
  a = not b and time > 1;
  b = not c;
  c = a or time > 2;
end DiscreteLoop;
