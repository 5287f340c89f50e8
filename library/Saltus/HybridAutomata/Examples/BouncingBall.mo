within Saltus.HybridAutomata.Examples;
model BouncingBall "One location, left and entered again at each impact, which resets the velocity"
  extends Icons.Example;
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e(unit = "1") = 0.8 "Coefficient of restitution at the first impact";
  parameter Real wear(unit = "1") = 0.95 "What an impact leaves of the coefficient";
  Real x(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  discrete Real c(unit = "1", start = e, fixed = true) "Coefficient: a parameter that the transition resets";
  Location flight(isInitial = true) "In the air";
  Transition impact(guard = x <= 0 and v < 0) "From flight to flight";
equation
  der(x) = v;
  der(v) = -g;
  when impact.fired then
    reinit(v, -pre(c)*pre(v));
    c = wear*pre(c);
  end when;
  connect(flight.departure[1], impact.from);
  connect(impact.to, flight.arrival[1]);
  annotation(
    experiment(StopTime = 2, Tolerance = 1e-9),
    Documentation(info = "<html><p>The transition resets a state and a parameter.</p></html>"));
end BouncingBall;
