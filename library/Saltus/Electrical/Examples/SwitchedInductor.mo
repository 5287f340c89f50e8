within Saltus.Electrical.Examples;
model SwitchedInductor "A switch interrupts the current of an inductor"
  extends Icons.Example;
  ConstantVoltage source(V = 10) "Source";
  Resistor resistor(R = 2) "Limits the current";
  Inductor inductor(L = 0.5, i(start = 0, fixed = true)) "Carries a current when the switch opens";
  Switch switch(closed = time < 1) "Opens after a second";
  Ground ground "Reference";
equation
  connect(source.p, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, switch.p);
  connect(switch.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-11),
    Documentation(info = "<html><p>The current is 5 (1 - exp(-4 t)) until the switch opens; the flux leaves the inductor as an impulse of the voltage of the switch.</p></html>"));
end SwitchedInductor;
