record State
  Real x;
  Real y;
  Integer steps;
end State;

function newton "Square root by iteration"
  input Real a;
  input Real tolerance = 1e-14;
  output State s;
protected
  Real change = 1;
algorithm
  s := State(x = a, y = 0, steps = 0);
  while abs(change) > tolerance*s.x and s.steps < 100 loop
    change := (s.x - a/s.x)/2;
    s.x := s.x - change;
    s.steps := s.steps + 1;
  end while;
  s.y := 1/s.x;
end newton;

function norm "Length of a vector of records"
  input State s[:];
  output Real y;
algorithm
  y := 0;
  for k in 1:size(s, 1) loop
    y := y + s[k].x^2;
  end for;
  y := sqrt(y);
end norm;

model RecordsAndFunctions
  parameter State p = newton(2);
  State a = newton(2 + time);
  State b = State(x = 3*a.x, y = p.y, steps = a.steps);
  Real n = norm({a, b});
end RecordsAndFunctions;
