model FloatingInductors "Two inductors feed a bridge of resistors that nothing else connects: the sum of its current laws is i1 + i2 = 0"
  parameter Real L = 0.5;
  parameter Real R = 1;
  Real i1(start = 0, fixed = true), i2;
  Real u1, u2 "Potentials at the inductors";
  Real p, n "Potentials of the rails";
  Real a[2], b[2] "Currents to the rails";
  Real c "Between the rails";
equation
  L*der(i1) = 6 - u1;
  L*der(i2) = -u2;
  R*a[1] = u1 - p;
  R*a[2] = u2 - p;
  R*b[1] = u1 - n;
  R*b[2] = u2 - n;
  R*c = p - n;
  i1 = a[1] + b[1];
  i2 = a[2] + b[2];
  a[1] + a[2] = c;
  b[1] + b[2] + c = 0;
end FloatingInductors;
