model Delayed
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -y;
  y = delay(x + y/2, 0.3);
end Delayed;
