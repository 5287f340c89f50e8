connector Flange
  Real phi(unit = "rad");
  flow Real tau(unit = "N.m");
end Flange;

model Speed
  Flange flange;
  parameter Real w = 1;
equation
  der(flange.phi) = w;
end Speed;

model Inertia
  Flange a;
  Flange b;
  parameter Real J = 1;
  Real w;
equation
  a.phi = b.phi;
  w = der(a.phi);
  J*der(w) = a.tau + b.tau;
end Inertia;

model TwoSpeeds
  Speed left(w = 10);
  Speed right(w = 12);
  Inertia inertia;
equation
  connect(left.flange, inertia.a);
  connect(right.flange, inertia.b);
end TwoSpeeds;
