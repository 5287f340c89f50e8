model MassesStick "A mass strikes another and sticks to it: the positions stay equal"
  parameter Real m1 = 1;
  parameter Real m2 = 2;
  Real x1(start = 0, fixed = true), v1(start = 3, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real F "of the contact";
  Real momentum = m1*v1 + m2*v2;
  Boolean stuck(start = false, fixed = true);
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -F;
  m2*der(v2) = F;
  when x1 >= x2 then
    stuck = true;
  end when;
  0 = if stuck then x1 - x2 else F;
end MassesStick;
