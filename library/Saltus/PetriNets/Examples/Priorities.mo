within Saltus.PetriNets.Examples;
model Priorities "Transitions that could fire together, for one token and for one empty place"
  extends Icons.Example;
  Place source1(isInitial = true, nIn = 0, nOut = 2) "Two transitions want its token";
  Place source2(isInitial = true, nIn = 0) "Its transition competes for the place middle";
  Place middle(nIn = 2, nOut = 0) "Two transitions want to put a token here";
  Place aside(nOut = 0) "Reached by the transition of lower priority only";
  Transition high(condition = time > 1) "source1 to middle: first at both";
  Transition low(condition = time > 1) "source1 to aside: second at source1";
  Transition late(condition = time > 1) "source2 to middle: second at middle";
equation
  connect(source1.outTransition[1], high.inPlace[1]);
  connect(source1.outTransition[2], low.inPlace[1]);
  connect(source2.outTransition[1], late.inPlace[1]);
  connect(high.outPlace[1], middle.inTransition[1]);
  connect(late.outPlace[1], middle.inTransition[2]);
  connect(low.outPlace[1], aside.inTransition[1]);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-10),
    Documentation(info = "<html><p>Equations 9.61b and 9.61d: only <code>high</code> fires.</p></html>"));
end Priorities;
