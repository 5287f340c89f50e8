model CupAndBall "A ball on a string from a cup, with one parameter of the curve that relates length and force"
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0, fixed = true), y(start = -1, fixed = true);
  Real vx(start = 5.2, fixed = true), vy(start = 0, fixed = true);
  Real F "of the string, by length";
  Real s(start = -1) "how far the string is slack, or minus its force";
  Boolean taut = s <= 0;
  Real energy = (vx^2 + vy^2)/2 + g*y;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - g;
  L^2 - (x^2 + y^2) = if taut then 0 else s;
  F = if taut then -s else 0;
end CupAndBall;
