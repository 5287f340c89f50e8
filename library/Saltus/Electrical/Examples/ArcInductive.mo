within Saltus.Electrical.Examples;
model ArcInductive "A light arc with an inductance, fed and then short-circuited"
  extends Icons.Example;
  SignalVoltage source(u = if time < 0.002 then 30e3 else 0) "Feeds the arc for two milliseconds";
  Inductor inductor(L = 1, i(start = 0)) "Keeps the current";
  LightArc arc "Ignites at the start";
  Ground ground "Reference";
equation
  connect(source.p, inductor.p);
  connect(inductor.n, arc.p);
  connect(arc.n, source.n);
  connect(source.n, ground.p);
  annotation(
    experiment(StopTime = 0.003, Tolerance = 1e-10),
    Documentation(info = "<html><p>The current passes all ranges of the arc, upwards and downwards.</p></html>"));
end ArcInductive;
