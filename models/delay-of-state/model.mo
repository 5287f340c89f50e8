model DelayOfState "y' = y(t)/t·y(ln y(t)), y = 1 up to t = 1: the delay depends on the state"
  Real y(start = 1, fixed = true);
equation
  der(y) = y/time*delay(y, time - log(y), 50);
  annotation(experiment(StartTime = 1, StopTime = 9));
end DelayOfState;
