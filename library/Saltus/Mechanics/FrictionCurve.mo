within Saltus.Mechanics;
model FrictionCurve "Dry friction as curves with a parameter, switched by a machine of four states"
  extends Interfaces.Friction(v(stateSelect = StateSelect.always));
  Units.Acceleration a "Relative acceleration";
  Real s(unit = "1") "Parameter of the curve of sticking: force by Fs within -1 and 1, acceleration beyond";
  Boolean start(start = true, fixed = true) "Before the first event";
  Boolean forward(start = false, fixed = true) "Slides forward";
  Boolean backward(start = false, fixed = true) "Slides backward";
  Boolean sticking(start = false, fixed = true) "Sticks, or begins to slide at zero velocity";
  Boolean startForward(start = false, fixed = true) "On the part of the curve where the acceleration is positive";
  Boolean startBackward(start = false, fixed = true) "On the part of the curve where the acceleration is negative";
protected
  constant Units.Acceleration unit = 1 "Of the curve's parameter beyond -1 and 1";
equation
  a = der(v);
  startForward = s > 1;
  startBackward = s < -1;
  start = false;
  forward = pre(start) and v > 0 or pre(sticking) and pre(startForward) and v > 0 or pre(forward) and not v <= 0 or (pre(sticking) or pre(backward)) and v > v_small;
  backward = pre(start) and v < 0 or pre(sticking) and pre(startBackward) and v < 0 or pre(backward) and not v >= 0 or (pre(sticking) or pre(forward)) and v < -v_small;
  sticking = not (start or forward or backward);
  if forward then
    f = Fd + d*v;
    s = 1;
  elseif backward then
    f = -Fd + d*v;
    s = -1;
  else
    a = unit*(if startForward then s - 1 elseif startBackward then s + 1 else 0);
    f = if startForward then Fd elseif startBackward then -Fd else Fs*s;
  end if;
  when sticking then
    reinit(v, 0);
  end when;
  annotation(
    Documentation(info = "<html>
<p>Textbook Figs. 9.39 and 9.40, homework H9.11. Around zero velocity the force over the <em>acceleration</em> is a curve with a parameter, which has a branch for the beginning of the motion
in each direction; so the state machine needs four states only.</p>
<p>Two transitions are added for impacts, which change the velocity at an instant: what sticks slides at once, and what slides may turn back without a stop.</p>
<p>The relative velocity is a state. There can be no more of these components than the bodies have degrees of freedom: where a block rubs against the ground and against another block that
does so too, use <code>FrictionConstraint</code>.</p>
</html>"));
end FrictionCurve;
