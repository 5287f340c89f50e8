record Point
  Real x;
  Real y;
end Point;

function f
  input Point p;
  output Real y;
external "C" y = unknown_to_us(p);
end f;

model FunctionWithoutDerivative
  Real x;
  Real y;
  Real v;
equation
  der(x) = v;
  y = f(Point(x, 1));
  y = time;
end FunctionWithoutDerivative;
