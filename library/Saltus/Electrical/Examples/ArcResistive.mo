within Saltus.Electrical.Examples;
model ArcResistive "A light arc in an alternating circuit without inductance"
  extends Icons.Example;
  SineVoltage source(V = 30e3, f = 50) "Source";
  Resistor resistor(R = 2000) "Limits the current";
  LightArc arc "Ignites and goes out twice in each period";
  Ground ground "Reference";
equation
  connect(source.p, resistor.p);
  connect(resistor.n, arc.p);
  connect(arc.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.04, Tolerance = 1e-10),
    Documentation(info = "<html><p>Ignites where 30 kV sin(x) = 25 kV, and goes out where 30 kV sin(x) = 7 kV.</p></html>"));
end ArcResistive;
