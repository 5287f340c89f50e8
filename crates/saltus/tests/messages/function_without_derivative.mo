function f
  input Real x[2];
  output Real y;
external "C" y = unknown_to_us(x);
end f;

model FunctionWithoutDerivative
  Real x;
  Real y;
  Real v;
equation
  der(x) = v;
  y = f({x, 1});
  y = time;
end FunctionWithoutDerivative;
