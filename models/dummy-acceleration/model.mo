model DummyAcceleration "A derivative that is a dummy, and one that nothing needs (001, example 4)"
  parameter Real m1 = 1;
  parameter Real m2 = 2;
  Real s1(start = 1, fixed = true);
  Real v1(start = 1, fixed = true);
  Real a1;
  Real s2 "On the curve s2 = s1^2";
  Real v2;
  Real a2 "The derivative of v2; no equation but this one says so";
  Real lambda;
equation
  der(s1) = v1;
  der(v1) = a1;
  der(s2) = v2;
  der(v2) = a2;
  s2 = s1^2;
  m1*a1 = 4*m2*(1 + time) - 2*s1*lambda;
  m2*a2 = lambda;
end DummyAcceleration;
