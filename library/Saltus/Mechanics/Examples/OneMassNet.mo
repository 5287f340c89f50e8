within Saltus.Mechanics.Examples;
model OneMassNet "OneMass with friction as a Petri net"
  extends OneMass(redeclare model Friction = FrictionNet);
  annotation(
    experiment(StopTime = 20, Tolerance = 1e-10),
    Documentation(info = "<html><p>Has the solution of <code>OneMass</code>.</p></html>"));
end OneMassNet;
