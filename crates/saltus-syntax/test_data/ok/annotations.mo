model M
  annotation(Icon(graphics = {Line(points = {{-10, 0}, {10, 0}}, color = {0, 0, 255}), Text(textString = "%name")}));
  Real x annotation(choices(choice = 1 "one", choice(redeclare A b = c "d"), choice = 2));
  annotation(Documentation(info = "<html>\"quoted\"</html>"), __Vendor(a.b = 1, c(final d)));
equation
  x = 1;
  annotation(uses(Modelica(version = "4.1.0")));
end M;
