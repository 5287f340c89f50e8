model AutomatonSchedule "An automaton inside a location of another"
  extends Saltus.HybridAutomata.Examples.Schedule;
end AutomatonSchedule;
