model DryFriction "An oscillator with dry friction turns, and sticks"
  parameter Real x0(unit = "m", min = 0, max = 5) = 3 "Where it begins";
  parameter Real F0(unit = "N", min = 0, max = 2) = 0.4 "Friction";
  Real x(unit = "m", start = x0, fixed = true);
  Real v(unit = "m/s", start = 0, fixed = true);
  Real f(unit = "N") "Friction force; at rest it balances the spring";
equation
  der(x) = v;
  f = F0*sign(v);
  der(v) = -x - f;
  annotation(experiment(StopTime = 15));
end DryFriction;
