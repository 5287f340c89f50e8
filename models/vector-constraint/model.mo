function distance "Length of a vector by Heron's iteration: it ends when it is good enough, so that it has no derivative by symbols"
  input Real r[:];
  output Real d;
protected
  Real square = 0;
  Real before = 0;
algorithm
  for k in 1:size(r, 1) loop
    square := square + r[k]^2;
  end for;
  d := max(1, square);
  while abs(d - before) > 1e-15*d loop
    before := d;
    d := (d + square/d)/2;
  end while;
end distance;

model VectorConstraint "The pendulum with its constraint in a function of an array: index 3, twice differentiated by difference quotients"
  parameter Real g = 9.81;
  parameter Real L = 1;
  Real r[2](start = {1, 0}, fixed = {false, true});
  Real v[2](start = {0, 0}, fixed = {false, true});
  Real F "tension by mass and length";
  Real x = r[1];
  Real y = r[2];
  Real drift = r*r - L^2;
  Real energy = v*v/2 + g*y;
equation
  der(r) = v;
  der(v) = -F*r - {0, g};
  distance(r) = L;
end VectorConstraint;
