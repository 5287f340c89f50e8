within Saltus.PetriNets.Examples;
model HysteresisNet "Dry hysteresis as a net of two places"
  extends Icons.Example;
  Real x = 2*cos(time) "Input";
  Real y = if up.token then 1 else -1 "Output";
  Place up "Upper output";
  Place down(isInitial = true) "Lower output";
  Transition rise(condition = x > 1) "down to up";
  Transition fall(condition = x < -1) "up to down";
equation
  connect(down.outTransition[1], rise.inPlace[1]);
  connect(rise.outPlace[1], up.inTransition[1]);
  connect(up.outTransition[1], fall.inPlace[1]);
  connect(fall.outPlace[1], down.inTransition[1]);
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-10),
    Documentation(info = "<html><p>Homework H9.12.</p></html>"));
end HysteresisNet;
