within Saltus.Blocks;
package Interfaces "Signals"
  connector RealInput = input Real "Real signal into a block" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 127}, fillColor = {0, 0, 127}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Connects with the input and output connectors of the Modelica Standard Library.</p></html>"));
  connector RealOutput = output Real "Real signal out of a block" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Connects with the input and output connectors of the Modelica Standard Library.</p></html>"));
  connector BooleanInput = input Boolean "Boolean signal into a block" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 160}, fillColor = {160, 0, 160}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Connects with the input and output connectors of the Modelica Standard Library.</p></html>"));
  connector BooleanOutput = output Boolean "Boolean signal out of a block" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 160}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Connects with the input and output connectors of the Modelica Standard Library.</p></html>"));
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-60, 60}, {60, 0}, {-60, -60}, {-60, 60}}, lineColor = {0, 0, 127}, fillColor = {0, 0, 127}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>Real and Boolean signals.</p></html>"));
end Interfaces;
