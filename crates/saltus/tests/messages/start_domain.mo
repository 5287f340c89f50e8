model Tank "The level cannot be what the flow asks for"
  parameter Real a = 2;
  Real h(start = 1, min = 0) "Level";
  Real q "Outflow";
initial equation
  q = -1;
equation
  der(h) = 1 - q;
  q = a*sqrt(h) + 0.1*h;
end Tank;
