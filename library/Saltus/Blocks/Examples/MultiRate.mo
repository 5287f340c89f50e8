within Saltus.Blocks.Examples;
model MultiRate "Samplers of two rates"
  extends Icons.Example;
  Sampler fast(period = 0.25, x = time) "Four times a second";
  Sampler slow(period = 1, offset = 0.5, x = fast.y) "Once a second, of the fast one";
  UnitDelay late(period = 0.25, x = time) "One period behind the fast one";
  annotation(
    experiment(StopTime = 3, Tolerance = 1e-10),
    Documentation(info = "<html><p>At an instant at which both work, the slow one takes the new sample.</p></html>"));
end MultiRate;
