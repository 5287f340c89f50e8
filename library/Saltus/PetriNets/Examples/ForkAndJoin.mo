within Saltus.PetriNets.Examples;
model ForkAndJoin "A transition with two places after it, and one with two before it"
  extends Icons.Example;
  Place begin(isInitial = true, nIn = 0) "One token";
  Place left1 "First of the left branch";
  Place left2 "Last of the left branch";
  Place right1 "First of the right branch";
  Place right2 "Last of the right branch";
  Place finish(nOut = 0) "One token again";
  Transition fork(nOut = 2, condition = time > 1) "Begins both branches";
  Transition left(condition = time > 2) "Goes on in the left branch";
  Transition right(condition = time > 3) "Goes on in the right branch";
  Transition join(nIn = 2) "Waits for both";
equation
  connect(begin.outTransition[1], fork.inPlace[1]);
  connect(fork.outPlace[1], left1.inTransition[1]);
  connect(fork.outPlace[2], right1.inTransition[1]);
  connect(left1.outTransition[1], left.inPlace[1]);
  connect(left.outPlace[1], left2.inTransition[1]);
  connect(right1.outTransition[1], right.inPlace[1]);
  connect(right.outPlace[1], right2.inTransition[1]);
  connect(left2.outTransition[1], join.inPlace[1]);
  connect(right2.outTransition[1], join.inPlace[2]);
  connect(join.outPlace[1], finish.inTransition[1]);
  annotation(
    experiment(StopTime = 4, Tolerance = 1e-10),
    Documentation(info = "<html><p>The token is doubled at 1 s; the branches meet at 3 s.</p></html>"));
end ForkAndJoin;
