function place "Point of the unit circle, by a series that ends when it is good enough: it has no derivative by symbols"
  input Real phi;
  output Real r[2];
protected
  Real t = 1;
  Integer k = 0;
algorithm
  r := {0, 0};
  while abs(t) > 1e-18 or k < 10 loop
    if mod(k, 2) == 0 then
      r[1] := r[1] + (if mod(k, 4) == 0 then t else -t);
    else
      r[2] := r[2] + (if mod(k, 4) == 1 then t else -t);
    end if;
    k := k + 1;
    t := t*phi/k;
  end while;
end place;

model IteratedGuide "A bead on a circle, its place by a function with an array as result: index 3, twice differentiated by difference quotients"
  parameter Real g = 9.81;
  Real phi(start = 0, fixed = true);
  Real w(start = 0, fixed = true);
  Real r[2];
  Real v[2];
  Real F "force of the guide by mass and radius";
  Real x = r[1];
  Real y = r[2];
  Real energy = v*v/2 + g*y;
equation
  der(phi) = w;
  r = place(phi);
  v = der(r);
  der(v) = -F*r - {0, g};
end IteratedGuide;
