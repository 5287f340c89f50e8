within Saltus.PetriNets.Examples;
model LimiterNet "A limiter as a net of three places"
  extends Icons.Example;
  Real x = 2*cos(time) "Input";
  Real y = if left.token then -1 elseif right.token then 1 else x "Output";
  Place left "Below -1";
  Place center(isInitial = true, nIn = 2, nOut = 2) "Between";
  Place right "Above 1";
  Transition toLeft(condition = x < -1) "center to left";
  Transition fromLeft(condition = x >= -1) "left to center";
  Transition toRight(condition = x > 1) "center to right";
  Transition fromRight(condition = x <= 1) "right to center";
equation
  connect(center.outTransition[1], toLeft.inPlace[1]);
  connect(toLeft.outPlace[1], left.inTransition[1]);
  connect(left.outTransition[1], fromLeft.inPlace[1]);
  connect(fromLeft.outPlace[1], center.inTransition[1]);
  connect(center.outTransition[2], toRight.inPlace[1]);
  connect(toRight.outPlace[1], right.inTransition[1]);
  connect(right.outTransition[1], fromRight.inPlace[1]);
  connect(fromRight.outPlace[1], center.inTransition[2]);
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-10),
    Documentation(info = "<html><p>Homework H9.13. The token begins in the center, and goes to the right at the start.</p></html>"));
end LimiterNet;
