within Saltus.Mechanics.Examples;
model OneMassDFSM "OneMass with friction as a state machine of six states"
  extends OneMass(redeclare model Friction = FrictionDFSM);
  annotation(
    experiment(StopTime = 20, Tolerance = 1e-10),
    Documentation(info = "<html><p>Has the solution of <code>OneMass</code>.</p></html>"));
end OneMassDFSM;
