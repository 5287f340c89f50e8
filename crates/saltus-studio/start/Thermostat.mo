model Thermostat "A heater with hysteresis, as an automaton of two locations"
  parameter Real low(unit = "degC", min = 10, max = 20) = 19 "Heating begins";
  parameter Real high(unit = "degC", min = 20, max = 30) = 21 "Heating ends";
  parameter Real power(unit = "K/min", min = 0.5, max = 5) = 1.5 "Of the heater";
  parameter Real outside(unit = "degC", min = -20, max = 15) = 5;
  Real T(unit = "degC", start = 15, fixed = true) "Temperature";
  Boolean heating(start = true, fixed = true) "The location";
equation
  heating = (pre(heating) and not T > high) or T < low;
  der(T) = (outside - T)/30 + (if heating then power else 0);
  annotation(experiment(StopTime = 60));
end Thermostat;
