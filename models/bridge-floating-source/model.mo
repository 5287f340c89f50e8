model Bridge "Full bridge behind a line inductance, with the lecture's diodes. While none of them conducts, nothing holds the potential of the source"
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  partial model TwoPin
    Pin p, n;
    Real v, i;
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;
  model Resistor
    extends TwoPin;
    parameter Real R;
  equation
    v = R*i;
  end Resistor;
  model Inductor
    extends TwoPin;
    parameter Real L;
  equation
    v = L*der(i);
  end Inductor;
  model Capacitor
    extends TwoPin;
    parameter Real C;
  equation
    i = C*der(v);
  end Capacitor;
  model Source
    extends TwoPin;
  equation
    v = 100*sin(100*3.141592653589793*time);
  end Source;
  model Diode "Blocks at s = 0"
    extends TwoPin;
    Real s;
  equation
    v = if s > 0 then 0 else s;
    i = if s > 0 then s else 0;
  end Diode;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  Source source;
  Ground ground;
  Resistor r(R = 0.5), load(R = 40);
  Inductor l(L = 5e-3);
  Capacitor c(C = 5e-4, v(start = 0, fixed = true));
  Diode d[4];
equation
  connect(source.p, r.p);
  connect(r.n, l.p);
  connect(l.n, d[1].p);
  connect(l.n, d[3].n);
  connect(source.n, d[2].p);
  connect(source.n, d[4].n);
  connect(d[1].n, c.p);
  connect(d[2].n, c.p);
  connect(d[3].p, c.n);
  connect(d[4].p, c.n);
  connect(load.p, c.p);
  connect(load.n, c.n);
  connect(c.n, ground.p);
end Bridge;
