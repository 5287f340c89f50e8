model FreeParameter "The speed that reaches the target"
  parameter Real target = 20;
  parameter Real v0(fixed = false, start = 1);
  parameter Real g = 9.81;
  Real t_flight = 2;
  Real x(start = 0, fixed = true);
  Real v(start = v0, fixed = true);
initial equation
  v0*t_flight - g*t_flight^2/2 = target;
equation
  der(x) = v;
  der(v) = -g;
end FreeParameter;
