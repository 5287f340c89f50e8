within Saltus.PetriNets;
block Place "Holds one token or none"
  parameter Boolean isInitial = false "Holds a token at the start";
  parameter Integer nIn(min = 0) = 1 "Number of transitions that put a token here";
  parameter Integer nOut(min = 0) = 1 "Number of transitions that take it";
  Interfaces.PlaceIn inTransition[nIn] "In the order of priority" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.PlaceOut outTransition[nOut] "In the order of priority" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  output Boolean token(start = isInitial, fixed = true) "There is a token";
protected
  Boolean put[nIn + 1] "A transition puts a token here, up to each of them";
  Boolean taken[nOut + 1] "A transition takes it, up to each of them";
equation
  put[1] = false;
  for i in 1:nIn loop
    inTransition[i].occupied = pre(token) or put[i];
    put[i + 1] = put[i] or inTransition[i].fire;
  end for;
  taken[1] = false;
  for i in 1:nOut loop
    outTransition[i].token = pre(token) and not taken[i];
    taken[i + 1] = taken[i] or outTransition[i].fire;
  end for;
  token = pre(token) and not taken[nOut + 1] or put[nIn + 1];
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-90, 90}, {90, -90}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Ellipse(extent = {{-25, 25}, {25, -25}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid, visible = DynamicSelect(isInitial, token)),
      Text(extent = {{-100, 130}, {100, 100}}, textString = "%name")}),
    Documentation(info = "<html>
<p>Equations 9.61 of the textbook for any number of transitions. A transition that puts a token here sees the place as occupied if one of higher priority puts its token here in the same pass; one that takes
the token sees none if one of higher priority takes it.</p>
</html>"));
end Place;
