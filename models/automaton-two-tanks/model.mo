model AutomatonTwoTanks "A transition into a location with one state less; the levels jump, the water stays"
  extends Saltus.HybridAutomata.Examples.TwoTanks;
  Real water = A1*h1 + A2*h2;
end AutomatonTwoTanks;
