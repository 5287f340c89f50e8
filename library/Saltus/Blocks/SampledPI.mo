within Saltus.Blocks;
block SampledPI "Controller with proportional and integral part that works in a period of its own"
  parameter Units.Time period "Time between samples";
  parameter Units.Time offset = 0 "Time of the first sample";
  parameter Real k "Gain";
  parameter Units.Time Ti "Time of the integral part";
  Interfaces.RealInput r "Wanted" annotation(Placement(transformation(extent = {{-140, 30}, {-100, 70}})));
  Interfaces.RealInput y "Measured" annotation(Placement(transformation(extent = {{-140, -70}, {-100, -30}})));
  Interfaces.RealOutput u(start = 0, fixed = true) "Control, held between samples" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  discrete Real integral(start = 0, fixed = true) "Sum of the errors by period and Ti";
equation
  when sample(offset, period) then
    integral = pre(integral) + period/Ti*(r - y);
    u = k*(r - y + integral);
  end when;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-60, 40}, {60, -40}}, textString = "PI"),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>At each sample the error is added to the integral part, and the control is computed; between samples it is held.</p></html>"));
end SampledPI;
