within Saltus.Mechanics;
model Force "Force given by a signal"
  Blocks.Interfaces.RealInput f(quantity = "Force", unit = "N") "Force on the flange, positive in the direction of s" annotation(Placement(transformation(extent = {{-120, -20}, {-80, 20}})));
  Interfaces.Flange_b flange "Where it acts" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  flange.f = -f;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-80, 0}, {80, 0}}, color = {0, 130, 0}, thickness = 1, arrow = {Arrow.None, Arrow.Filled}),
      Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
    Documentation(info = "<html><p>Acts on one flange; the other end is the ground.</p></html>"));
end Force;
