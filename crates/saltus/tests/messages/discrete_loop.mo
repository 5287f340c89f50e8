model DiscreteLoop
  Boolean a;
  Boolean b;
equation
  a = not b or time > 3;
  b = a and time > 0.5;
end DiscreteLoop;
