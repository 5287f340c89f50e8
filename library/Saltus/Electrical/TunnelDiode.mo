within Saltus.Electrical;
model TunnelDiode "Ideal tunnel diode"
  extends Interfaces.Curve;
  parameter Units.Voltage Vp(min = 0) "Voltage of the peak";
  parameter Units.Current Ip(min = 0) "Current of the peak";
  parameter Units.Voltage Vv(min = Vp) "Voltage of the valley";
  parameter Units.Current Iv(min = 0, max = Ip) "Current of the valley";
equation
  v = if s < 0 then unitVoltage*s elseif s < 1 then Vp*s elseif s < 2 then Vp + (Vv - Vp)*(s - 1) else Vv;
  i = if s < 0 then 0 elseif s < 1 then Ip*s elseif s < 2 then Ip + (Iv - Ip)*(s - 1) else Iv + unitCurrent*(s - 2);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Polygon(points = {{-40, 35}, {40, 0}, {-40, -35}, {-40, 35}}, lineColor = {0, 0, 255}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Line(points = {{40, 35}, {40, -35}}, color = {0, 0, 255}), Line(points = {{40, 35}, {25, 35}}, color = {0, 0, 255}), Line(points = {{40, -35}, {25, -35}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Homework H9.10, of straight lines: blocks a negative voltage, rises to the peak (which may be at zero voltage), falls to the valley with a negative resistance, and conducts any larger current at the voltage of the valley. The parameter is 0 at the origin, 1 at the peak and 2 in the valley.</p></html>"));
end TunnelDiode;
