within Saltus.Blocks;
block HystereticQuantiser "Quantisation with hysteresis"
  parameter Real q(min = 0) "Quantum: input and output differ by half of it at most";
  Interfaces.RealInput x "Input" annotation(Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Interfaces.RealOutput y "Output: a multiple of q/2" annotation(Placement(transformation(extent = {{100, -10}, {120, 10}})));
  Integer k "Level";
initial equation
  pre(k) = integer(2*x/q + 0.5);
equation
  k = if x > (pre(k) + 1)*q/2 then pre(k) + 1 elseif x < (pre(k) - 1)*q/2 then pre(k) - 1 else pre(k);
  y = k*q/2;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{-80, -60}, {-40, -60}, {-40, -20}, {0, -20}, {0, 20}, {40, 20}, {40, 60}, {80, 60}}, color = {0, 0, 127}),
      Text(extent = {{-100, 140}, {100, 110}}, textString = "%name")}),
    Documentation(info = "<html><p>Homework H9.6. The output is stepwise constant. Where the input is half a quantum away from it, the output takes the value of the input; so it changes back only after the input has returned by half a quantum.</p></html>"));
end HystereticQuantiser;
