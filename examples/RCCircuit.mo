package RCCircuit "A capacitor is charged through a resistor; components and connectors, no library needed"
  connector Pin "Electrical connector"
    Real v(unit = "V") "Potential";
    flow Real i(unit = "A") "Current into the component";
  end Pin;

  partial model TwoPin "Two pins and one current"
    Pin p;
    Pin n;
    Real v(unit = "V") "Voltage from p to n";
    Real i(unit = "A") "Current from p to n";
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R(unit = "Ohm");
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C(unit = "F");
  equation
    C*der(v) = i;
  end Capacitor;

  model StepVoltage "Zero, then V"
    extends TwoPin;
    parameter Real V(unit = "V");
    parameter Real T(unit = "s") "When";
  equation
    v = if time < T then 0 else V;
  end StepVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Circuit
    StepVoltage source(V = 10, T = 0.1);
    Resistor resistor(R = 1000);
    Capacitor capacitor(C = 1e-4, v(start = 0, fixed = true));
    Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 0.6));
  end Circuit;
end RCCircuit;
