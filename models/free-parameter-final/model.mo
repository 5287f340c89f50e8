model FreeParameterFinal "A length that follows from where the ends are when the run begins, and a final parameter made of it"
  parameter Boolean compute = true "= true, if the length follows from the positions";
  parameter Real length(fixed = not compute, start = 1);
  final parameter Real twice = 2*length;
  Real x(start = 3, fixed = true), y(start = 4, fixed = true);
  Real z;
equation
  der(x) = y;
  der(y) = -x;
  x^2 + y^2 = length^2 + z;
initial equation
  z = 0;
end FreeParameterFinal;
