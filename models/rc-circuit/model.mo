package Circuit
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPin
    Pin p;
    Pin n;
    Real v;
    Real i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R = 1;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C = 1;
  equation
    C*der(v) = i;
  end Capacitor;

  model Battery
    extends TwoPin;
    parameter Real V = 1;
  equation
    v = V;
  end Battery;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
end Circuit;

model RcCircuit "A capacitor is charged through a resistor"
  Circuit.Battery source(V = 10);
  Circuit.Resistor resistor(R = 100);
  Circuit.Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true));
  Circuit.Ground ground;
equation
  connect(source.p, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
end RcCircuit;
