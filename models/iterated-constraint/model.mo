function kepler "Eccentric anomaly, by Newton's method until it is good enough"
  input Real M "Mean anomaly";
  input Real e "Eccentricity";
  output Real E;
protected
  Real correction;
algorithm
  E := M;
  correction := 1;
  while abs(correction) > 1e-14*(1 + abs(E)) loop
    correction := (E - e*sin(E) - M)/(1 - e*cos(E));
    E := E - correction;
  end while;
end kepler;

model IteratedConstraint "The force on a bead that is led by the solution of Kepler's equation"
  parameter Real m = 2;
  parameter Real e = 0.3;
  Real M = 0.5 + time;
  Real s;
  Real v;
  Real F;
equation
  der(s) = v;
  m*der(v) = F;
  s = kepler(M, e);
end IteratedConstraint;
