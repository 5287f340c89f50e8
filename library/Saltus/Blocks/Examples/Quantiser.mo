within Saltus.Blocks.Examples;
model Quantiser "Quantisation with hysteresis of a sine"
  extends Icons.Example;
  HystereticQuantiser quantiser(q = 0.5, x = sin(time)) "Has the levels 0, 0.25, …";
  Real distance = sin(time) - quantiser.y "At most 0.25";
  annotation(
    experiment(StopTime = 6, Tolerance = 1e-10),
    Documentation(info = "<html><p>On the way down each level is left half a quantum later than it was reached on the way up.</p></html>"));
end Quantiser;
