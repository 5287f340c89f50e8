model ParameterAlias
  parameter Real p = 2;
  input Real u;
  Real x, y, z, v(start = 1);
  Boolean q, r;
equation
  x = p;
  y = -p;
  z = u;
  der(v) = u + x + y;
  q = p > 1;
  r = q;
end ParameterAlias;
