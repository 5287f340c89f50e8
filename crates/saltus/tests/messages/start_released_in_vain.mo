model ReleasedInVain "Whatever the start values, no sum of squares is negative"
  Real x(start = 1);
  Real y(start = 2);
  Real z(start = 3);
initial equation
  x^2 + exp(y) = -1 - z^2;
equation
  der(x) = -x;
  der(y) = -y;
  der(z) = 1;
end ReleasedInVain;
