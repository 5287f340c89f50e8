model SteadyStart "Two tanks that start in balance"
  parameter Real q = 2;
  Real a(start = 1);
  Real b(start = 1);
initial equation
  der(a) = 0;
  der(b) = 0;
equation
  der(a) = q*(if time < 1 then 1 else 2) - sqrt(a);
  der(b) = sqrt(a) - b;
end SteadyStart;
