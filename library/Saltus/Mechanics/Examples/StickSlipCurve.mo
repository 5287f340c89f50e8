within Saltus.Mechanics.Examples;
model StickSlipCurve "StickSlip with friction as curves with a parameter"
  extends StickSlip(redeclare model Friction = FrictionCurve);
  annotation(
    experiment(StopTime = 60, Tolerance = 1e-11),
    Documentation(info = "<html><p>Has the solution of <code>StickSlip</code>.</p></html>"));
end StickSlipCurve;
