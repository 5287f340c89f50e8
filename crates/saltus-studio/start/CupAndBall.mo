model CupAndBall "A ball on a string: slack, it flies; taut, it swings"
  parameter Real L(unit = "m", min = 0.3, max = 2) = 1 "Length of the string";
  parameter Real g(unit = "m/s2", min = 1, max = 30) = 9.81;
  Real x(unit = "m", start = 0, fixed = true), y(unit = "m", start = -1, fixed = true);
  Real vx(unit = "m/s", start = 5.2, fixed = true), vy(unit = "m/s", start = 0, fixed = true);
  Real F "Of the string, by length";
  Real s(start = -1) "How far the string is slack, or minus its force";
  Boolean taut = s <= 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - g;
  L^2 - (x^2 + y^2) = if taut then 0 else s;
  F = if taut then -s else 0;
  annotation(experiment(StopTime = 3));
end CupAndBall;
