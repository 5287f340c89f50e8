within Saltus.Electrical.Examples;
model ChargedCapacitor "A capacitor is charged through a resistor"
  extends Icons.Example;
  ConstantVoltage source(V = 10) "Source";
  Resistor resistor(R = 1000) "Charges the capacitor";
  Capacitor capacitor(C = 1e-3, v(start = 0, fixed = true)) "Empty at first";
  Ground ground "Reference";
equation
  connect(source.p, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 5, Tolerance = 1e-10),
    Documentation(info = "<html><p>The voltage is 10 (1 - exp(-t)).</p></html>"));
end ChargedCapacitor;
