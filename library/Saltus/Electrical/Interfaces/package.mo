within Saltus.Electrical;
package Interfaces "Pins, and what devices with two of them have in common"
  connector PositivePin "Pin"
    Units.Voltage v "Potential";
    flow Units.Current i "Current into the component";
    annotation(
      Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Same variables as the pins of the Modelica Standard Library.</p></html>"));
  end PositivePin;

  connector NegativePin "Pin"
    Units.Voltage v "Potential";
    flow Units.Current i "Current into the component";
    annotation(
      Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Equal to <code>PositivePin</code> but for its picture.</p></html>"));
  end NegativePin;

  partial model OnePort "Device with two pins"
    PositivePin p "Positive pin" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    NegativePin n "Negative pin" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Voltage v "Voltage from p to n";
    Units.Current i "Current from p to n";
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
    annotation(
      Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
        Line(points = {{-90, 0}, {-40, 0}}, color = {0, 0, 255}), Line(points = {{40, 0}, {90, 0}}, color = {0, 0, 255}),
        Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
      Documentation(info = "<html><p>What flows into one pin flows out of the other.</p></html>"));
  end OnePort;

  partial model Curve "Device whose voltage and current are functions of a parameter"
    extends OnePort;
    Real s(unit = "1") "Parameter of the curve";
  protected
    constant Units.Voltage unitVoltage = 1 "Of the parameter where it stands for a voltage";
    constant Units.Current unitCurrent = 1 "Of the parameter where it stands for a current";
    annotation(
      Icon(graphics = {Line(points = {{-40, 0}, {40, 0}}, color = {0, 0, 255})}),
      Documentation(info = "<html><p>What extends it says <code>v</code> and <code>i</code> as functions of <code>s</code>.</p></html>"));
  end Curve;

  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-60, 30}, {0, -30}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{0, 30}, {60, -30}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>The partial models leave the law to what extends them.</p></html>"));
end Interfaces;
