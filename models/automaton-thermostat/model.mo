model AutomatonThermostat "Two locations with one state"
  extends Saltus.HybridAutomata.Examples.Thermostat;
end AutomatonThermostat;
