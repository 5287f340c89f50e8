within Saltus.Blocks.Examples;
model EitherSide "A piecewise linear function, and its inverse"
  extends Icons.Example;
  parameter Real points[4, 2] = [-2, -3; -1, -1; 1, 2; 2, 2.5] "Corners of both";
  PiecewiseLinear forward(points = points) "From x to y";
  PiecewiseLinear backward(points = points) "From y to x";
equation
  forward.x = 3*sin(time);
  backward.y = forward.y;
  annotation(
    experiment(StopTime = 7, Tolerance = 1e-10),
    Documentation(info = "<html><p>The second one gives back the abscissa of the first.</p></html>"));
end EitherSide;
