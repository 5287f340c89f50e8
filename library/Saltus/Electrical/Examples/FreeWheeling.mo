within Saltus.Electrical.Examples;
model FreeWheeling "A diode takes over the current of an inductor when a switch opens"
  extends Icons.Example;
  ConstantVoltage source(V = 10) "Source";
  Switch switch(closed = time < 1) "Opens after a second";
  Resistor resistor(R = 2) "Load";
  Inductor inductor(L = 0.5, i(start = 0, fixed = true)) "Load";
  IdealDiode diode "Across the load";
  Ground ground "Reference";
equation
  connect(source.p, switch.p);
  connect(switch.n, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, source.n);
  connect(diode.p, source.n);
  connect(diode.n, switch.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-11),
    Documentation(info = "<html><p>No impulse: the one that an open diode would have to bear makes it conduct.</p></html>"));
end FreeWheeling;
