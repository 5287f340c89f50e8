within Saltus.Electrical;
model Capacitor "Capacitance"
  extends Interfaces.OnePort;
  parameter Units.Capacitance C "Capacitance";
equation
  i = C*der(v);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-40, 0}, {-8, 0}}, color = {0, 0, 255}), Line(points = {{-8, 35}, {-8, -35}}, color = {0, 0, 255}), Line(points = {{8, 35}, {8, -35}}, color = {0, 0, 255}), Line(points = {{8, 0}, {40, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Where a switch connects it to another voltage, charge comes as an impulse of the current.</p></html>"));
end Capacitor;
