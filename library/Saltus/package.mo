within;
package Saltus "Components for systems that switch, slide, strike and change their structure"
  annotation(
    version = "0.1.0",
    Documentation(info = "<html><p>The classes of this library contain no formula for momentum or charge: what happens at an instant follows from the equations of the model.</p></html>"));
end Saltus;
