model Relay "x' = -sign(x) + 1.5 sin(t): a relay against a drive that is sometimes stronger"
  Real x(start = 1, fixed = true);
equation
  der(x) = -sign(x) + 1.5*sin(time);
end Relay;
