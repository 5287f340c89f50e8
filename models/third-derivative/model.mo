model ThirdDerivative "`der` of `der` of `der`, of a state and of an expression"
  Real x(start = 1, fixed = true);
  Real y = der(der(der(x)));
  Real z = der(der(der(2*x)));
  Real c[2] = der(der(der({time^3, time^2})));
equation
  der(x) = -x;
end ThirdDerivative;
