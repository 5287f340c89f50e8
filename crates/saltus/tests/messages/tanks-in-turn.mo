model TanksInTurn "Two tanks that run empty are filled in turn: infinitely many events before time 0.8"
  Real x1(start = 0.2, fixed = true), x2(start = 0.2, fixed = true);
  Boolean first(start = true, fixed = true);
equation
  der(x1) = (if first then 1.5 else 0) - 1;
  der(x2) = (if first then 0 else 1.5) - 1;
  when x2 <= 0 then
    first = false;
  elsewhen x1 <= 0 then
    first = true;
  end when;
end TanksInTurn;
