model LooseElement "The output is carried along by the input at the ends of a gap (H9.5)"
  parameter Real d = 0.5 "Half of the gap";
  Real x = 2*sin(time);
  Real v = 2*cos(time) "Of the input";
  Real y(start = 0, fixed = true);
  Integer contact(start = 0, fixed = true) "1 carried up, -1 carried down, 0 loose";
equation
  contact = if pre(contact) == 1 then (if v < 0 then 0 else 1)
    elseif pre(contact) == -1 then (if v > 0 then 0 else -1)
    elseif x - y > d and v > 0 then 1 elseif x - y < -d and v < 0 then -1 else 0;
  der(y) = if contact == 0 then 0 else v;
end LooseElement;
