model NearestStart "Two equations say the same: of all solutions the one with the least change of the start values"
  Real x(start = 1, nominal = 4);
  Real y(start = 2, nominal = 4);
  Real u(start = 10, nominal = 10) "No equation speaks of it at the start";
initial equation
  x + y = 5;
  2*x + 2*y = 10;
equation
  der(x) = -x;
  der(y) = -y;
  der(u) = 0;
end NearestStart;
