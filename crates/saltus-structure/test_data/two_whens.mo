model TwoWhens
  Real x(start = 0);
  discrete Real y;
equation
  der(x) = 1;
  when x > 1 then
    y = 1;
  end when;
  when x > 2 then
    y = 2;
  end when;
end TwoWhens;
