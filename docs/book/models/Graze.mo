model Graze "A wave that touches a level without crossing it, and one that crosses it for an instant"
  Real touches = sin(time);
  Real crosses = 1.0000001*sin(time);
  Integer n(start = 0, fixed = true) "times that the second wave was above the level";
equation
  when crosses > 1 then
    n = pre(n) + 1;
  end when;
  when touches > 1 then
    terminate("a sine is above one");
  end when;
end Graze;
