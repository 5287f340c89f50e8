within Saltus.HybridAutomata;
package Interfaces "Connectors between locations and transitions, and ports of automata"
  connector Departure "Of a location, to a transition that leaves it"
    output Boolean open "The transition may fire";
    input Boolean fired "It does";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}));
  end Departure;

  connector Entry "Of a transition, to the location that it leaves"
    input Boolean open "The transition may fire";
    output Boolean fired "It does";
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}));
  end Entry;

  connector Arrival "Of a location, to a transition that leads to it"
    input Boolean fired "The transition fires";
    annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}));
  end Arrival;

  connector Exit "Of a transition, to the location that it leads to"
    output Boolean fired "The transition fires";
    annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}));
  end Exit;

  connector ContinuousInput = input Real "Port for a continuous signal";
  connector ContinuousOutput = output Real "Port for a continuous signal";
  connector DiscreteInput = input Integer "Port for a discrete signal";
  connector DiscreteOutput = output Integer "Port for a discrete signal";
  connector EventInput = input Boolean "Port for an event: true in the pass in which it happens";
  connector EventOutput = output Boolean "Port for an event: true in the pass in which it happens";
  annotation(Documentation(info = "<html><p>An event is a Boolean that is true in one pass of the event iteration.</p></html>"));
end Interfaces;
