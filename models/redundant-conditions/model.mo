model RedundantConditions "Five conditions for three states: two of them follow from the others"
  Real x(start = 1);
  Real y(start = 2);
  Real z(start = 0.6667, fixed = true) "Rounded: z = y/x";
initial equation
  x + y = 5;
  2*x + 2*y = 10;
  x - y = 1;
  x*z = y;
equation
  der(x) = -x;
  der(y) = -y;
  der(z) = 0;
end RedundantConditions;
