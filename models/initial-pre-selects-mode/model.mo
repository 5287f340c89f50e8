model InitialPreSelectsMode "Dry friction whose first mode follows from the first velocity, by an initial equation for pre"
  Real x(start = 0, fixed = true), v(start = 5, fixed = true), f;
  Integer mode(start = 0) "1 forward, -1 backward, 0 stuck";
initial equation
  pre(mode) = if v > 0 then 1 elseif v < 0 then -1 else 0;
equation
  der(x) = v;
  5*der(v) = -1.5*time - f;
  mode = if pre(mode) == 1 then (if v < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
    elseif f > 10 then 1 elseif f < -10 then -1 else 0;
  0 = if mode == 0 then v else f - mode*8;
end InitialPreSelectsMode;
