within Saltus.PetriNets.Examples;
model SerialAnd "An and of two relations by an extra place"
  extends Icons.Example;
  Place waiting(isInitial = true) "Neither is known to hold";
  Place half(nOut = 2) "The first holds: the extra place";
  Place done(nOut = 0) "Both hold";
  Transition first(condition = sin(time) > 0.5) "waiting to half";
  Transition second(condition = time > 7) "half to done";
  Transition back(condition = sin(time) <= 0.5) "half to waiting: the first holds no more";
equation
  connect(waiting.outTransition[1], first.inPlace[1]);
  connect(first.outPlace[1], half.inTransition[1]);
  connect(half.outTransition[1], second.inPlace[1]);
  connect(second.outPlace[1], done.inTransition[1]);
  connect(half.outTransition[2], back.inPlace[1]);
  connect(back.outPlace[1], waiting.inTransition[1]);
  annotation(
    experiment(StopTime = 8, Tolerance = 1e-10),
    Documentation(info = "<html><p>sin(t) &gt; 0.5 and t &gt; 7 hold together at 7 s first: before, the token has been in the extra place and back.</p></html>"));
end SerialAnd;
