within Saltus.Blocks;
block CascadeController "Controller of two rates: a slow one for the position tells a fast one which velocity to hold"
  parameter Units.Time period "Time between samples of the velocity";
  parameter Integer n(min = 1) "The position is sampled every n periods";
  parameter Real kx(unit = "1/s") "Gain of the position";
  parameter Real kv(unit = "1/s") "Gain of the velocity";
  Interfaces.RealInput r(unit = "m") "Wanted position" annotation(Placement(transformation(extent = {{-140, 40}, {-100, 80}})));
  Interfaces.RealInput x(unit = "m") "Position" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealInput v(unit = "m/s") "Velocity" annotation(Placement(transformation(extent = {{-140, -80}, {-100, -40}})));
  Interfaces.RealOutput a(unit = "m/s2", start = 0, fixed = true) "Acceleration, held between samples of the velocity" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  discrete Units.Velocity w(start = 0, fixed = true) "Wanted velocity, held between samples of the position";
equation
  when sample(0, n*period) then
    w = kx*(r - x);
  end when;
  when sample(0, period) then
    a = kv*(w - v);
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, 40}, {0, 40}, {0, 60}, {80, 60}}, color = {0, 0, 127}), Line(points = {{-80, -60}, {-50, -60}, {-50, -40}, {-20, -40}, {-20, -20}, {10, -20}, {10, -40}, {40, -40}, {40, -50}, {80, -50}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Where both are sampled at one instant, the velocity is compared with the new wanted one.</p></html>"));
end CascadeController;
