model PreOfInput "Timers whose input has a value of its own before the start"
  model Timer
    input Boolean u;
    discrete Real entry;
    Real y;
  initial equation
    pre(u) = false;
    pre(entry) = time;
  equation
    when u then
      entry = time;
    end when;
    y = if u then time - entry else 0;
  end Timer;
  Boolean y, z;
  Timer timer[2](u = {y, y}), other(u = not y), last(u = z);
initial equation
  y = true;
equation
  when sample(0.5, 2) then
    y = false;
  elsewhen sample(1.5, 2) then
    y = true;
  end when;
  z = y;
end PreOfInput;
