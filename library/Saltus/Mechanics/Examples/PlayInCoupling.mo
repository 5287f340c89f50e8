within Saltus.Mechanics.Examples;
model PlayInCoupling "A mass is coupled to a heavy one with play"
  extends Icons.Example;
  Mass wagon1(m = 1, s(start = 0, fixed = true), v(start = 3, fixed = true)) "Moves at first";
  Mass wagon2(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true)) "Is struck";
  Backlash coupling(b = 2) "Two metres of play";
  Force brake(f = if time < 1 then 0 elseif time < 3 then 1.5 else 0) "On the second wagon, from 1 s to 3 s";
equation
  connect(wagon1.flange_b, coupling.flange_a);
  connect(coupling.flange_b, wagon2.flange_a);
  connect(brake.flange, wagon2.flange_b);
  annotation(
    experiment(StopTime = 6, Tolerance = 1e-10),
    Documentation(info = "<html><p>The wagons meet at 1/3 s and go on together at 1 m/s; the force on the second one parts them, until the coupling is stretched.</p></html>"));
end PlayInCoupling;
