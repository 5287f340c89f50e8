within Saltus.Mechanics.Examples;
model LooseLever "A loose element driven to and fro"
  extends Icons.Example;
  LooseElement loose(d = 0.5, x = 2*sin(time)) "Driven";
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-10),
    Documentation(info = "<html><p>The output is 2 sin(t) - 0.5 on the way up, 2 sin(t) + 0.5 on the way down, and stands still between.</p></html>"));
end LooseLever;
