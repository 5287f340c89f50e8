within Saltus.HybridAutomata.Examples;
model Schedule "An automaton inside a location of another: the thermostat works by day only, and begins anew every morning"
  extends Icons.Example;
  parameter Real k(unit = "1/s") = 0.1 "Rate of cooling";
  parameter Real ambient(unit = "degC") = 5 "Temperature outside";
  parameter Real heating(unit = "K/s") = 3 "What the heating adds";
  Real T(unit = "degC", start = 20, fixed = true) "Temperature of the room";
  Real clock(unit = "s", start = 0, fixed = true) "Since the last change of day and night";
  Location day(isInitial = true) "Contains the thermostat";
  Location night "No heating";
  Transition evening(guard = clock > 10) "Also in the middle of heating";
  Transition morning(guard = clock > 5) "The thermostat begins in off";
  Location off(isInitial = true, enclosing = day.active) "Inside day";
  Location on(enclosing = day.active) "Inside day";
  Transition switchOn(guard = T < 18) "To on";
  Transition switchOff(guard = T > 22) "To off";
equation
  der(clock) = 1;
  der(T) = -k*(T - ambient) + (if on.active then heating else 0);
  when {evening.fired, morning.fired} then
    reinit(clock, 0);
  end when;
  connect(day.departure[1], evening.from);
  connect(evening.to, night.arrival[1]);
  connect(night.departure[1], morning.from);
  connect(morning.to, day.arrival[1]);
  connect(off.departure[1], switchOn.from);
  connect(switchOn.to, on.arrival[1]);
  connect(on.departure[1], switchOff.from);
  connect(switchOff.to, off.arrival[1]);
  annotation(
    experiment(StopTime = 30, Tolerance = 1e-9),
    Documentation(info = "<html><p>XOR composition in two levels.</p></html>"));
end Schedule;
