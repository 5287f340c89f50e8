model Cradle "Newton's cradle: the ball at the other end takes the velocity"
  function restitution "Newton's law of restitution; the impulses follow from the equations"
    input Real approach "Velocity at which two bodies approach each other";
    input Real coefficient "0: plastic, 1: elastic";
    input Real force "Of the contact: an unknown that is an impulse at this instant";
    external "builtin" saltus_restitution(approach, coefficient, force);
  end restitution;
  parameter Integer n = 5 "Balls";
  parameter Real m(unit = "kg", min = 0.1, max = 10) = 2 "Mass of each";
  Real x[n](each unit = "m", start = {-1, 0, 0, 0, 0}, each fixed = true);
  Real v[n](each unit = "m/s", start = {1, 0, 0, 0, 0}, each fixed = true);
  Real F[n + 1](each unit = "N") "Left of each ball";
equation
  der(x) = v;
  F[1] = 0;
  F[n + 1] = 0;
  for k in 1:n loop
    m*der(v[k]) = F[k] - F[k + 1];
  end for;
  for k in 2:n loop
    F[k] = 0;
    when x[k - 1] >= x[k] and v[k - 1] > v[k] then
      restitution(v[k - 1] - v[k], 1, F[k]);
    end when;
  end for;
  annotation(experiment(StopTime = 2));
end Cradle;
