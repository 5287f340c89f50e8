within Saltus.Blocks.Examples;
model HysteresisAndLimiter "Dry hysteresis and limiter of a cosine"
  extends Icons.Example;
  Hysteresis hysteresis(x1 = -1, x2 = 1, y1 = -1, y2 = 1, x = 2*cos(time)) "Changes at -1 on the way down and at 1 on the way up";
  Limiter limiter(x1 = -1, x2 = 1, x = 2*cos(time)) "Has corners at -1 and 1";
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-10),
    Documentation(info = "<html><p>Homework H9.12 and H9.13.</p></html>"));
end HysteresisAndLimiter;
