within Saltus.PetriNets.Examples;
model ParallelOr "An or of two relations by parallel transitions"
  extends Icons.Example;
  Place waiting(isInitial = true, nIn = 1, nOut = 2) "Neither holds";
  Place done(nIn = 2) "One of them holds";
  Transition one(condition = sin(time) > 0.9) "One way from waiting to done";
  Transition other(condition = time > 8) "The other way";
  Transition again(condition = sin(time) < 0) "done to waiting";
equation
  connect(waiting.outTransition[1], one.inPlace[1]);
  connect(one.outPlace[1], done.inTransition[1]);
  connect(waiting.outTransition[2], other.inPlace[1]);
  connect(other.outPlace[1], done.inTransition[2]);
  connect(done.outTransition[1], again.inPlace[1]);
  connect(again.outPlace[1], waiting.inTransition[1]);
  annotation(
    experiment(StopTime = 9, Tolerance = 1e-10),
    Documentation(info = "<html><p>Reaches done by the first relation twice; returns where the sine is negative.</p></html>"));
end ParallelOr;
