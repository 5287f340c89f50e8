within Saltus.Mechanics.Examples;
model StickSlipNet "StickSlip with friction as a Petri net"
  extends StickSlip(redeclare model Friction = FrictionNet);
  annotation(
    experiment(StopTime = 60, Tolerance = 1e-11),
    Documentation(info = "<html><p>Has the solution of <code>StickSlip</code>.</p></html>"));
end StickSlipNet;
