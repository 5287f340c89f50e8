within Saltus.HybridAutomata.Examples;
model TrainGate "Train and gate side by side; the train says when it comes and goes, the gate follows in the same instant"
  extends Icons.Example;
  model Train "Runs in circles"
    parameter Real speed(unit = "m/s") = 20 "Of the train";
    parameter Real circle(unit = "m") = 2000 "Length of the track";
    Real s(unit = "m", start = 0, fixed = true) "Position";
    Location far(isInitial = true) "Before the sensor at 1000 m";
    Location near "Between sensor and crossing at 1400 m";
    Location past "On the crossing, until 1500 m";
    Transition approach(guard = s > 1000) "Passes the sensor";
    Transition cross(guard = s > 1400) "Reaches the crossing";
    Transition leave(guard = s > 1500) "Has passed it, and begins the next circle";
    Interfaces.EventOutput comes = approach.fired "Event: passes the sensor";
    Interfaces.EventOutput goes = leave.fired "Event: has passed";
  equation
    der(s) = if near.active then 0.5*speed else speed;
    when leave.fired then
      reinit(s, pre(s) - circle);
    end when;
    connect(far.departure[1], approach.from);
    connect(approach.to, near.arrival[1]);
    connect(near.departure[1], cross.from);
    connect(cross.to, past.arrival[1]);
    connect(past.departure[1], leave.from);
    connect(leave.to, far.arrival[1]);
  end Train;

  model Gate "Follows events"
    parameter Real rate(unit = "deg/s") = 9 "Of the barrier";
    Interfaces.EventInput close "Event: lower the barrier";
    Interfaces.EventInput open "Event: raise it";
    Real angle(unit = "deg", start = 90, fixed = true) "Of the barrier, 0 is closed";
    Location up(isInitial = true) "At 90 degrees";
    Location lowering "On the way down";
    Location down "At 0 degrees";
    Location raising "On the way up";
    Transition start(allowed = close) "Synchronised";
    Transition closed(guard = angle < 0) "At the end";
    Transition release(allowed = open) "Synchronised";
    Transition opened(guard = angle > 90) "At the end";
  equation
    der(angle) = if lowering.active then -rate elseif raising.active then rate else 0;
    connect(up.departure[1], start.from);
    connect(start.to, lowering.arrival[1]);
    connect(lowering.departure[1], closed.from);
    connect(closed.to, down.arrival[1]);
    connect(down.departure[1], release.from);
    connect(release.to, raising.arrival[1]);
    connect(raising.departure[1], opened.from);
    connect(opened.to, up.arrival[1]);
  end Gate;

  Train train "Sends events";
  Gate gate "Receives them";
equation
  connect(train.comes, gate.close);
  connect(train.goes, gate.open);
  annotation(
    experiment(StopTime = 200, Tolerance = 1e-9),
    Documentation(info = "<html><p>Two automata in parallel (AND). The gate has no clock and no sensor of its own: its transitions fire together with those of the train.</p></html>"));
end TrainGate;
