model SlidingFriction "An oscillator with dry friction turns three times and sticks"
  Real x(start = 3, fixed = true);
  Real v(start = 0, fixed = true);
  Real f "Friction force; at rest it balances the spring";
equation
  der(x) = v;
  f = 0.4*sign(v);
  der(v) = -x - f;
end SlidingFriction;
