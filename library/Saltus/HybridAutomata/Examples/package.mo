within Saltus.HybridAutomata;
package Examples "Automata that can be run"
  extends Icons.Examples;
  annotation(Documentation(info = "<html><p>Each has an answer in closed form or from an independent solution, which the tests of Saltus compare.</p></html>"));
end Examples;
