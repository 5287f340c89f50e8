model AutomatonPendulum "Locations with two and with four states"
  extends Saltus.HybridAutomata.Examples.FilamentPendulum;
end AutomatonPendulum;
