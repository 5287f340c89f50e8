within Saltus.PetriNets;
package Examples "Nets that can be run"
  extends Icons.Examples;
  annotation(Documentation(info = "<html><p>Each has an answer in closed form, which the tests of Saltus compare. A net of six places is <code>Saltus.Mechanics.FrictionNet</code>.</p></html>"));
end Examples;
