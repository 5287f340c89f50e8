model FeasibleDamped "Newton's step from each guess leaves the domain of a function: it is shortened (001, section 6)"
  Real a(start = 10) "Next iterate -13.8";
  Real b(start = 100, min = 0);
  Real c(start = 0.95, min = -1, max = 1);
  Real d(start = 1e-3, min = 0);
  Real e(start = 30) "Inside sqrt only with the rest of the equation";
  Real f(start = 5);
  Real t(start = 0, fixed = true);
equation
  log(a) + a = -1;
  sqrt(b) + b^2 = 2;
  asin(c) + c^3 = 0.1;
  d*log(d) = -0.3 + t;
  sqrt(e - 4) = 1/e;
  f^1.5 + log(f) = 0;
  der(t) = 0;
end FeasibleDamped;
