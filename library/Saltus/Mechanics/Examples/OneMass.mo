within Saltus.Mechanics.Examples;
model OneMass "A mass is braked by dry friction, sticks, and is torn away by a rising force"
  extends Icons.Example;
  replaceable model Friction = FrictionConstraint constrainedby Interfaces.Friction "Formulation of dry friction";
  Mass mass(m = 5, s(start = 0, fixed = true), v(start = 5, fixed = true)) "Slides forward at first";
  Friction friction(Fd = 8, Fs = 10) "Between mass and ground";
  Fixed ground "Does not move";
  Force force(f = if time < 10 then -1.5*time else -15) "Grows for ten seconds";
equation
  connect(ground.flange, friction.flange_a);
  connect(friction.flange_b, mass.flange_a);
  connect(mass.flange_b, force.flange);
  annotation(
    experiment(StopTime = 20, Tolerance = 1e-10),
    Documentation(info = "<html><p>Sticks from (2/3)(&radic;139 - 8) s on, and slides back from 20/3 s on, where the force reaches 10 N.</p></html>"));
end OneMass;
