within Saltus.Mechanics.Examples;
model OneMassCurve "OneMass with friction as curves with a parameter"
  extends OneMass(redeclare model Friction = FrictionCurve);
  annotation(
    experiment(StopTime = 20, Tolerance = 1e-10),
    Documentation(info = "<html><p>Has the solution of <code>OneMass</code>.</p></html>"));
end OneMassCurve;
