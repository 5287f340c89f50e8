within Saltus.Electrical.Examples;
model Dimmer "A triac is fired at 60 and 240 degrees of every period"
  extends Icons.Example;
  SineVoltage source(V = 325, f = 50) "Line";
  Triac triac(fire = sample(1/300, 0.01)) "Fired twice in each period";
  Resistor lamp(R = 100) "Load";
  Ground ground "Reference";
equation
  connect(source.p, triac.p);
  connect(triac.n, lamp.p);
  connect(lamp.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.04, Tolerance = 1e-10),
    Documentation(info = "<html><p>Conducts from the firing to the next zero of the voltage, in both directions.</p></html>"));
end Dimmer;
