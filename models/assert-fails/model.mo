model AssertFails "The tank runs over"
  Real level(start = 1, fixed = true);
equation
  der(level) = 0.5;
  assert(level < 2.025, "the tank runs over");
end AssertFails;
