model Thermostat "A heater that is switched between two temperatures"
  Real T(start = 18, fixed = true, unit = "degC") "temperature";
  Boolean heats(start = true, fixed = true);
equation
  der(T) = (if heats then 5 else 0) - 0.2*(T - 10);
  when T > 22 then
    heats = false;
  elsewhen T < 20 then
    heats = true;
  end when;
end Thermostat;
