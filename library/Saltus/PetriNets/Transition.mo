within Saltus.PetriNets;
block Transition "Moves tokens when its condition holds"
  parameter Integer nIn(min = 0) = 1 "Number of places before it";
  parameter Integer nOut(min = 0) = 1 "Number of places after it";
  input Boolean condition = true "May fire while this holds";
  Interfaces.TransitionIn inPlace[nIn] "Places whose tokens it takes" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Interfaces.TransitionOut outPlace[nOut] "Places into which it puts tokens" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  output Boolean fire "In the pass in which it fires";
protected
  Boolean ready[nIn + 1] "Places before it hold tokens, up to each of them";
  Boolean blocked[nOut + 1] "A place after it is occupied, up to each of them";
equation
  ready[1] = condition;
  for i in 1:nIn loop
    ready[i + 1] = ready[i] and inPlace[i].token;
    inPlace[i].fire = fire;
  end for;
  blocked[1] = false;
  for i in 1:nOut loop
    blocked[i + 1] = blocked[i] or outPlace[i].occupied;
    outPlace[i].fire = fire;
  end for;
  fire = ready[nIn + 1] and not blocked[nOut + 1];
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-10, 90}, {10, -90}}, lineColor = {0, 0, 0}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid),
      Line(points = {{-90, 0}, {-10, 0}}),
      Line(points = {{10, 0}, {90, 0}}, arrow = {Arrow.None, Arrow.Filled}),
      Text(extent = {{-100, 130}, {100, 100}}, textString = "%name"),
      Text(extent = {{-100, -100}, {100, -130}}, textString = "%condition")}),
    Documentation(info = "<html><p>Equations 9.62 of the textbook for any number of places.</p></html>"));
end Transition;
