model RigidMasses "Two masses in one: the constraint is differentiated twice"
  parameter Real m1 = 1;
  parameter Real m2 = 3;
  parameter Real k = 16;
  Real x1(start = 1, fixed = true);
  Real v1(start = 0, fixed = true);
  Real x2;
  Real v2;
  Real f "force between them";
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -k*x1 - f;
  m2*der(v2) = f;
  x1 = x2;
end RigidMasses;
