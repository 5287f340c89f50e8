model FreeParameterPassed "The stiffness that holds a mass is found through the parameter of a part"
  model Spring
    parameter Real c(min = 0);
    Real s, f = c*s;
  end Spring;
  parameter Real m = 2, g = 10;
  parameter Real c(fixed = false, start = 1);
  Spring spring(c = 2*c, s = x);
  Real x(start = 0.5, fixed = true);
  Real v(start = 0, fixed = true);
  Real a(start = 0, fixed = true) = der(v);
equation
  der(x) = v;
  m*a = m*g - spring.f;
end FreeParameterPassed;
