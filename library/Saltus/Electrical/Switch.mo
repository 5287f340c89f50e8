within Saltus.Electrical;
model Switch "Ideal switch"
  extends Interfaces.OnePort;
  Blocks.Interfaces.BooleanInput closed "Conducts while true" annotation(Placement(transformation(extent = {{-20, 80}, {20, 120}})));
equation
  0 = if closed then v else i;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-40, 0}, {38, 28}}, color = {0, 0, 255}), Ellipse(extent = {{-46, 6}, {-34, -6}}, lineColor = {0, 0, 255}), Line(points = {{0, 80}, {0, 14}}, color = {160, 0, 160})}),
    Documentation(info = "<html><p>The switch equation of textbook section 9.8: no voltage while closed, no current while open. Where it opens a current or closes on a charge, an impulse follows from the circuit.</p></html>"));
end Switch;
