within Saltus.Mechanics.Examples;
model StickSlipDFSM "StickSlip with friction as a state machine of six states"
  extends StickSlip(redeclare model Friction = FrictionDFSM);
  annotation(
    experiment(StopTime = 60, Tolerance = 1e-11),
    Documentation(info = "<html><p>Has the solution of <code>StickSlip</code>.</p></html>"));
end StickSlipDFSM;
