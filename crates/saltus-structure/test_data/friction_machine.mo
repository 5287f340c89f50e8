model Friction
  parameter Real peak = 1.1;
  Real x(start = 0), v(start = 0), a, f, sa;
  Boolean locked(start = true), startForward(start = false), startBackward(start = false), free;
  Integer mode(start = 2, fixed = true);
equation
  der(x) = v;
  der(v) = a;
  a = 2*sin(time) - f;
  free = false;
  startForward = pre(mode) == 0 and (sa > peak or pre(startForward) and sa > 1) or pre(mode) == -1 and v > 0 or initial() and v > 0;
  startBackward = pre(mode) == 0 and (sa < -peak or pre(startBackward) and sa < -1) or pre(mode) == 1 and v < 0 or initial() and v < 0;
  locked = not free and not (pre(mode) == 1 or startForward or pre(mode) == -1 or startBackward);
  a = if locked then 0 else if free then sa else if startForward then sa - 1 else if startBackward then sa + 1 else if pre(mode) == 1 then sa - 1 else sa + 1;
  f = if locked then sa else if free then 0 else (if startForward then 1 else if startBackward then -1 else if pre(mode) == 1 then 1 else -1);
  mode = if free then 2 else (if (pre(mode) == 1 or pre(mode) == 2 or startForward) and v > 0 then 1 else if (pre(mode) == -1 or pre(mode) == 2 or startBackward) and v < 0 then -1 else 0);
end Friction;
