model MassWithStop "A mass on a spring that is thrown back by an elastic stop"
  parameter Real stop = -0.5;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Integer hits(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  when x < stop then
    reinit(v, -pre(v));
    hits = pre(hits) + 1;
  end when;
end MassWithStop;
