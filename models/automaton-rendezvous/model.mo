model AutomatonRendezvous "Two automata that wait for each other, and one with two ways out of a location"
  import Saltus.HybridAutomata.*;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Location early(isInitial = true, nIn = 0), metEarly(nOut = 0);
  Location late(isInitial = true, nIn = 0), metLate(nOut = 0);
  Transition a(guard = x > 1, allowed = b.ready), b(guard = y > 1, allowed = a.ready);
  Location fork(isInitial = true, nIn = 0, nOut = 2, priorities = true), left(nOut = 0), right(nOut = 0);
  Transition toLeft(guard = x > 3), toRight(guard = x > 3);
equation
  der(x) = if early.active then 1 else 2;
  der(y) = if late.active then 0.5 else 0;
  connect(early.departure[1], a.from);
  connect(a.to, metEarly.arrival[1]);
  connect(late.departure[1], b.from);
  connect(b.to, metLate.arrival[1]);
  connect(fork.departure[1], toRight.from);
  connect(toRight.to, right.arrival[1]);
  connect(fork.departure[2], toLeft.from);
  connect(toLeft.to, left.arrival[1]);
end AutomatonRendezvous;
