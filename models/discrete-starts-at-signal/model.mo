model DiscreteStartsAtSignal "An initial equation gives a discrete variable the value of a continuous one"
  Real u = 2 + x;
  Real x(start = 1, fixed = true);
  discrete Real y;
initial equation
  y = u;
equation
  der(x) = 1;
  when time >= 1 then
    y = pre(y) + u;
  end when;
end DiscreteStartsAtSignal;
