model TurnedIf "Cellier and Kofman, equation 9.33: a curve of three slopes, given y and asked for x"
  parameter Real a1 = 2;
  parameter Real a2 = 0.5;
  parameter Real a3 = 5;
  Real y = 10*time - 5;
  Real x;
equation
  y = if x < -1 then a1*x + (a1 - a2) elseif x > 1 then a3*x + (a2 - a3) else a2*x;
end TurnedIf;
