function interpolate "Straight lines between points, constant outside"
  input Real x[:];
  input Real y[size(x, 1)];
  input Real u;
  output Real v;
protected
  Integer k;
algorithm
  if u <= x[1] then
    v := y[1];
  elseif u >= x[end] then
    v := y[end];
  else
    k := 1;
    while u > x[k + 1] loop
      k := k + 1;
    end while;
    v := y[k] + (u - x[k])*(y[k + 1] - y[k])/(x[k + 1] - x[k]);
  end if;
end interpolate;

model TableLookup "A table as a function, integrated"
  parameter Real x[:] = {0, 1, 2, 4};
  parameter Real y[:] = {0, 2, 1, 5};
  Real v = interpolate(x, y, time);
  Real area(start = 0, fixed = true);
equation
  der(area) = v;
end TableLookup;
