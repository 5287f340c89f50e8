within Saltus.Mechanics.Examples;
model StickSlip "A heavy mass draws a light one over the ground by a spring: stick and slip"
  extends Icons.Example;
  replaceable model Friction = FrictionConstraint constrainedby Interfaces.Friction "Formulation of dry friction";
  Mass mass1(m = 5, s(start = 0, fixed = true), v(start = 0, fixed = true)) "Rests at first";
  Mass mass2(m = 100, s(start = 0, fixed = true), v(start = 1, fixed = true)) "Moves away";
  Spring spring(c = 50) "Between the masses";
  Friction friction(Fd = 8, Fs = 10) "Between the light mass and the ground";
  Fixed ground "Does not move";
equation
  connect(ground.flange, friction.flange_a);
  connect(friction.flange_b, mass1.flange_a);
  connect(mass1.flange_b, spring.flange_a);
  connect(spring.flange_b, mass2.flange_a);
  annotation(
    experiment(StopTime = 60, Tolerance = 1e-11),
    Documentation(info = "<html><p>The light mass slips six times, and sticks for ever from 11.723 s on.</p></html>"));
end StickSlip;
