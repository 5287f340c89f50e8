within Saltus.Blocks;
function minimalStandard "Next state of the minimal standard generator of random numbers"
  input Integer state "From 1 to 2147483646";
  output Integer next "16807 state mod 2147483647";
protected
  Integer high = div(state, 127773) "Quotient";
algorithm
  next := 16807*(state - 127773*high) - 2836*high;
  if next <= 0 then
    next := next + 2147483647;
  end if;
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {255, 127, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-80, 40}, {80, -40}}, textString = "random")}),
    Documentation(info = "<html><p>S. K. Park, K. W. Miller, <em>Random number generators: good ones are hard to find</em>, 1988, with the division of L. Schrage that keeps all numbers below 2<sup>31</sup>. From 1, the
state after 10000 steps is 1043618065.</p></html>"));
end minimalStandard;
