connector Pin
  Real v(unit = "V");
  flow Real i(unit = "A");
end Pin;

partial model TwoPin
  Pin p;
  Pin n;
  Real v(unit = "V");
  Real i(unit = "A");
equation
  v = p.v - n.v;
  0 = p.i + n.i;
  i = p.i;
end TwoPin;

model Voltage
  extends TwoPin;
  parameter Real V = 1;
equation
  v = V;
end Voltage;

model Current
  extends TwoPin;
  parameter Real I = 1;
equation
  i = I;
end Current;

model Resistor
  extends TwoPin;
  parameter Real R = 1;
equation
  v = R*i;
end Resistor;

model Ground
  Pin p;
equation
  p.v = 0;
end Ground;

model SeriesSources
  Current a(I = 1);
  Current b(I = 2);
  Resistor r(R = 5);
  Ground g;
equation
  connect(a.n, b.p);
  connect(b.n, r.p);
  connect(r.n, a.p);
  connect(a.p, g.p);
end SeriesSources;
