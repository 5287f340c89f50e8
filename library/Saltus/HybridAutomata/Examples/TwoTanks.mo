within Saltus.HybridAutomata.Examples;
model TwoTanks "Two tanks whose valve, once open, keeps their levels equal: two states, then one"
  extends Icons.Example;
  parameter Real A1(unit = "m2") = 2 "Area of the first tank";
  parameter Real A2(unit = "m2") = 1 "Area of the second tank";
  parameter Real inflow(unit = "m3/s") = 0.3 "Into the first tank";
  parameter Real full(unit = "m") = 1 "The valve opens above this level of the first tank";
  Real h1(unit = "m", start = 0.4, fixed = true) "Level of the first tank";
  Real h2(unit = "m", start = 0.1, fixed = true) "Level of the second tank";
  Real q(unit = "m3/s") "Through the valve";
  Location separate(isInitial = true, nIn = 0) "Valve closed";
  Location joined(nOut = 0) "Valve open, of no resistance";
  Transition open(guard = h1 > full) "Opens the valve";
equation
  A1*der(h1) = inflow - q;
  A2*der(h2) = q;
  0 = if joined.active then h1 - h2 else q;
  connect(separate.departure[1], open.from);
  connect(open.to, joined.arrival[1]);
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-9),
    Documentation(info = "<html><p>At the transition the levels jump to their common value; no water is lost, although no equation says how much flows at that instant.</p></html>"));
end TwoTanks;
