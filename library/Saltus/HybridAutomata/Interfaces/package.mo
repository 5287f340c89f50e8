within Saltus.HybridAutomata;
package Interfaces "Connectors between locations and transitions, and ports of automata"
  connector Departure "Of a location, to a transition that leaves it"
    output Boolean open "The transition may fire";
    input Boolean fired "It does";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>Entry</code>.</p></html>"));
  end Departure;

  connector Entry "Of a transition, to the location that it leaves"
    input Boolean open "The transition may fire";
    output Boolean fired "It does";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>Departure</code>.</p></html>"));
  end Entry;

  connector Arrival "Of a location, to a transition that leads to it"
    input Boolean fired "The transition fires";
    annotation(
      Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>Exit</code>.</p></html>"));
  end Arrival;

  connector Exit "Of a transition, to the location that it leads to"
    output Boolean fired "The transition fires";
    annotation(
      Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>Arrival</code>.</p></html>"));
  end Exit;

  connector ContinuousInput = input Real "Port for a continuous signal" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 127}, fillColor = {0, 0, 127}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>A Real that varies all the time.</p></html>"));
  connector ContinuousOutput = output Real "Port for a continuous signal" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>A Real that varies all the time.</p></html>"));
  connector DiscreteInput = input Integer "Port for a discrete signal" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {255, 127, 0}, fillColor = {255, 127, 0}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>An Integer that changes at events.</p></html>"));
  connector DiscreteOutput = output Integer "Port for a discrete signal" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {255, 127, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>An Integer that changes at events.</p></html>"));
  connector EventInput = input Boolean "Port for an event: true in the pass in which it happens" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 160}, fillColor = {160, 0, 160}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>True in one pass of the event iteration.</p></html>"));
  connector EventOutput = output Boolean "Port for an event: true in the pass in which it happens" annotation(
    Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 160}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>True in one pass of the event iteration.</p></html>"));
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-60, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Polygon(points = {{10, 30}, {60, 0}, {10, -30}, {10, 30}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>An event is a Boolean that is true in one pass of the event iteration.</p></html>"));
end Interfaces;
