model MassesWithProduct "Two masses with x1*x2 = 1: at the jump of the force positions and velocities stay, the accelerations follow from two of four equations (001, example 5)"
  Real x1(start = 2, fixed = true);
  Real x2(start = 0.5, fixed = true) "Redundant, and consistent";
  Real v1(start = 1, fixed = true);
  Real v2(start = -0.25, fixed = true) "Redundant, and consistent";
  Real a1;
  Real a2;
  discrete Real a1_after(start = 0, fixed = true);
  discrete Real expected(start = 0, fixed = true) "Solution of the two equations by hand";
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = a1;
  der(v2) = a2;
  a1 + a2 = if time < 0.5 then 0 else 1;
  x1*x2 = 1;
  when time >= 0.5 then
    a1_after = a1;
    expected = (-2*v1*v2 - x1)/(x2 - x1);
  end when;
end MassesWithProduct;
