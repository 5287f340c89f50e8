model ParallelogramStretched "Two equal cranks and a rod as long as the base pass the positions in which all lie in one line"
  parameter Real J = 1 "Inertia of a crank";
  parameter Real J_rod = 0.5 "Inertia of the rod about its end";
  parameter Real r = 1 "Length of a crank";
  parameter Real d = 2 "Length of base and rod";
  Real a(start = 1, fixed = true) "Angle of the first crank";
  Real b(start = 1) "Angle of the second crank";
  Real c(start = 0) "Angle of the rod";
  Real w_a(start = 1, fixed = true);
  Real w_b, w_c;
  Real f, g "Force in the joint";
equation
  der(a) = w_a;
  der(b) = w_b;
  der(c) = w_c;
  r*cos(a) + d*cos(c) = d + r*cos(b);
  r*sin(a) + d*sin(c) = r*sin(b);
  J*der(w_a) = r*(sin(a)*f - cos(a)*g);
  J*der(w_b) = -r*(sin(b)*f - cos(b)*g);
  J_rod*der(w_c) = d*(sin(c)*f - cos(c)*g);
end ParallelogramStretched;
