within Saltus.Electrical.Examples;
model Stabiliser "A Zener diode limits the voltage of a load"
  extends Icons.Example;
  SineVoltage source(V = 20, f = 1) "Input";
  Resistor resistor(R = 100) "Between input and load";
  ZenerDiode zener(Vz = 5) "Its cathode at the load";
  Resistor load(R = 100) "Load";
  Ground ground "Reference";
equation
  connect(source.p, resistor.p);
  connect(resistor.n, load.p);
  connect(load.n, source.n);
  connect(zener.n, load.p);
  connect(zener.p, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 1, Tolerance = 1e-10),
    Documentation(info = "<html><p>The voltage of the load is half of the input, between 0 and 5 V.</p></html>"));
end Stabiliser;
