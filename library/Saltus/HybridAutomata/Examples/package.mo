within Saltus.HybridAutomata;
package Examples "Automata that can be run"
end Examples;
