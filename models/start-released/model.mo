model Curve "Two guesses that do not fit"
  Real r(start = 5);
  Real p(start = 1);
initial equation
  r^2 + exp(p) = 5;
equation
  der(r) = 0;
  der(p) = 0;
end Curve;

model StartReleased "Start values that cannot be kept give way, the least trusted first"
  Real x(start = 2) "No point of the circle has it";
  Real y(start = 0);
  Real w(start = 3) "Is in nobody's way";
  Curve c(p(start = 0)) "p = 0 is set here, r = 5 in the component: r gives way";
initial equation
  x^2 + y^2 = 1;
equation
  der(x) = -x;
  der(y) = -y;
  der(w) = 0;
end StartReleased;
