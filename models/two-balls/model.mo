model Ball
  parameter Real h = 1;
  parameter Real e = 0.5;
  Real x(start = h, fixed = true);
  Real v(start = 0, fixed = true);
  Integer bounces(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -2;
  when x < 0 then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
end Ball;

model TwoBalls "Two that hit the ground in the same instant, and one later"
  Ball ball[3](h = {1, 1, 4});
end TwoBalls;
