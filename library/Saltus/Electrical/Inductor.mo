within Saltus.Electrical;
model Inductor "Inductance"
  extends Interfaces.OnePort;
  parameter Units.Inductance L "Inductance";
equation
  v = L*der(i);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-40, 0}, {-38, 14}, {-20, 14}, {-20, 0}, {-18, 14}, {0, 14}, {0, 0}, {2, 14}, {20, 14}, {20, 0}, {22, 14}, {40, 14}, {40, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Where a switch interrupts its current, the flux <code>L i</code> leaves it as an impulse of the voltage.</p></html>"));
end Inductor;
