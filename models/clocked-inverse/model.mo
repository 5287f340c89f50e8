model ClockedInverse "The inverse of a plant in a discretized partition: its state is that of the filter before it"
  parameter Real w = 2;
  Real r = if time < 0 then 0 else 1;
  Real rs "Sampled reference";
  Real f(start = 0, fixed = true) "Filtered reference";
  Real x(start = 0) "State of the plant";
  Real u "What the plant needs for x = f";
  Real y;
equation
  rs = sample(r, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
  der(f) = w*(rs - f);
  der(x) = u - x;
  x = f;
  y = hold(u);
end ClockedInverse;
