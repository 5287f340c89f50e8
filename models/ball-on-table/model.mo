model BallOnTable "A ball comes to rest on a table that sinks faster and faster, and is left behind when the table falls faster than it"
  parameter Real g = 9.81;
  parameter Real e = 0.5 "Coefficient of restitution";
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Real s = -time^3/6 "Height of the table: its acceleration is -time";
  Real w = -time^2/2 "Its velocity";
equation
  der(x) = v;
  der(v) = -g;
  when x < s then
    reinit(v, w - e*(pre(v) - w));
  end when;
end BallOnTable;
