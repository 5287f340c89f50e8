within Saltus.Electrical;
model SineVoltage "Source of alternating voltage"
  extends Interfaces.OnePort;
  parameter Units.Voltage V "Amplitude";
  parameter Units.Frequency f "Frequency";
  parameter Units.Angle phase = 0 "Phase";
protected
  constant Real pi = 3.14159265358979324;
equation
  v = V*sin(2*pi*f*time + phase);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid), Line(points = {{-30, 0}, {-20, 18}, {-8, 18}, {8, -18}, {20, -18}, {30, 0}}, color = {0, 0, 255}, smooth = Smooth.Bezier)}),
    Documentation(info = "<html><p>Ideal: the voltage does not depend on the current.</p></html>"));
end SineVoltage;
