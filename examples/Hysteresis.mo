model Hysteresis "A relay with two thresholds: what it does depends on where it comes from"
  parameter Real low = -1 "The relay opens below";
  parameter Real high = 1 "The relay closes above";
  Real x = 2*cos(time) "Input";
  Boolean closed(start = true, fixed = true);
  Integer y = if closed then 1 else -1 "Output";
equation
  closed = x > high or pre(closed) and x > low;
  annotation(experiment(StopTime = 10));
end Hysteresis;
