within Saltus.Impact;
package Examples "Impacts that can be run"
  extends Icons.Examples;
  annotation(Documentation(info = "<html><p>Each has an answer in closed form, which the tests of Saltus compare.</p></html>"));
end Examples;
