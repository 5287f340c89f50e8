within Saltus.HybridAutomata.Examples;
model Thermostat "A room whose heating is switched on below 18 and off above 22 degrees"
  extends Icons.Example;
  parameter Real k(unit = "1/s") = 0.1 "Rate of cooling";
  parameter Real ambient(unit = "degC") = 5 "Temperature outside";
  parameter Real heating(unit = "K/s") = 3 "What the heating adds";
  parameter Real low(unit = "degC") = 18 "Switched on below";
  parameter Real high(unit = "degC") = 22 "Switched off above";
  Real T(unit = "degC", start = 20, fixed = true) "Temperature of the room";
  Location off(isInitial = true) "Heating off";
  Location on "Heating on";
  Transition switchOn(guard = T < low) "To on";
  Transition switchOff(guard = T > high) "To off";
equation
  der(T) = -k*(T - ambient) + (if on.active then heating else 0);
  connect(off.departure[1], switchOn.from);
  connect(switchOn.to, on.arrival[1]);
  connect(on.departure[1], switchOff.from);
  connect(switchOff.to, off.arrival[1]);
  annotation(
    experiment(StopTime = 20, Tolerance = 1e-9),
    Documentation(info = "<html><p>One state in both locations. Each switching time follows from an exponential function: the first one at
ln((20 - 5)/(18 - 5))/k.</p></html>"));
end Thermostat;
