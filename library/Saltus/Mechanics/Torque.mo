within Saltus.Mechanics;
model Torque "Torque given by a signal"
  Blocks.Interfaces.RealInput tau(quantity = "Torque", unit = "N.m") "Torque on the shaft, positive in the direction of phi" annotation(Placement(transformation(extent = {{-120, -20}, {-80, 20}})));
  Interfaces.Shaft_b shaft "Where it acts" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  shaft.tau = -tau;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-80, 0}, {-60, 40}, {0, 60}, {60, 40}, {80, 0}}, color = {0, 0, 0}, thickness = 1, arrow = {Arrow.None, Arrow.Filled}, smooth = Smooth.Bezier),
      Text(extent = {{-100, -40}, {100, -70}}, textString = "%name")}),
    Documentation(info = "<html><p>Acts on one shaft; the other end is the ground.</p></html>"));
end Torque;
