within Saltus.Mechanics;
model Spring "Linear spring"
  extends Interfaces.TwoFlanges;
  parameter Units.SpringConstant c "Force by extension";
  parameter Units.Position s_rel0 = 0 "Length without force";
equation
  f = c*(s_rel - s_rel0);
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-90, 0}, {-60, 0}, {-50, 25}, {-30, -25}, {-10, 25}, {10, -25}, {30, 25}, {50, -25}, {60, 0}, {90, 0}}, color = {0, 130, 0}),
      Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
    Documentation(info = "<html><p>Has no mass and no friction.</p></html>"));
end Spring;
