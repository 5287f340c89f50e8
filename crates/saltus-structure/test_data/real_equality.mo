model RealEquality
  Real x(start = 0), y;
equation
  der(x) = 1;
  y = if x == 1 then 2 else 3;
end RealEquality;
