within Saltus.PetriNets;
package Interfaces "Connectors between places and transitions"
  connector PlaceIn "Of a place, to a transition that puts a token there"
    output Boolean occupied "No token may be put there";
    input Boolean fire "The transition does";
    annotation(
      Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>TransitionOut</code>.</p></html>"));
  end PlaceIn;

  connector PlaceOut "Of a place, to a transition that takes its token"
    output Boolean token "A token may be taken";
    input Boolean fire "The transition does";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>TransitionIn</code>.</p></html>"));
  end PlaceOut;

  connector TransitionIn "Of a transition, to a place before it"
    input Boolean token "A token may be taken";
    output Boolean fire "It is taken";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>PlaceOut</code>.</p></html>"));
  end TransitionIn;

  connector TransitionOut "Of a transition, to a place after it"
    input Boolean occupied "No token may be put there";
    output Boolean fire "It is put there";
    annotation(
      Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Connects with <code>PlaceIn</code>.</p></html>"));
  end TransitionOut;

  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-60, 30}, {0, -30}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Polygon(points = {{10, 30}, {60, 0}, {10, -30}, {10, 30}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>A place says what it holds, a transition says whether it fires.</p></html>"));
end Interfaces;
