model SlidingLine "A relay on a double integrator: the motion reaches the switching line x1 + x2 = 0 and goes along it to the origin"
  Real x1(start = 1, fixed = true);
  Real x2(start = 1, fixed = true);
  Real u "Its equivalent value on the line is x2/2";
equation
  der(x1) = x2;
  der(x2) = -2*u;
  u = if x1 + x2 > 0 then 1 else -1;
end SlidingLine;
