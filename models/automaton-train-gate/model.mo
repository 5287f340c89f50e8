model AutomatonTrainGate "Two automata in parallel with synchronising events"
  extends Saltus.HybridAutomata.Examples.TrainGate;
end AutomatonTrainGate;
