model AutomatonBall "A transition from a location to itself resets a state and a parameter"
  extends Saltus.HybridAutomata.Examples.BouncingBall;
end AutomatonBall;
