within Saltus.Mechanics;
model FrictionDFSM "Dry friction as a deterministic finite state machine of six states"
  extends Interfaces.Friction(v(stateSelect = StateSelect.always));
  parameter Units.Acceleration a_small(min = 0) = 1e-9 "Where sliding begins the acceleration is zero; less than this against the direction is round-off" annotation(Dialog(tab = "Advanced"));
  Units.Acceleration a "Relative acceleration";
  Units.Force fc "Force of the constraint while the flanges stick, else zero";
  Boolean start(start = true, fixed = true) "Before the first event";
  Boolean forward(start = false, fixed = true) "Slides forward";
  Boolean backward(start = false, fixed = true) "Slides backward";
  Boolean startForward(start = false, fixed = true) "Begins to slide forward: the velocity is still zero";
  Boolean startBackward(start = false, fixed = true) "Begins to slide backward";
  Boolean sticking(start = false, fixed = true) "Sticks";
protected
  Boolean above(start = false, fixed = true) "The force of the constraint passes its limit forward";
  Boolean below(start = false, fixed = true) "The force of the constraint passes its limit backward";
  Boolean hitForward "An impact makes it slide forward";
  Boolean hitBackward "An impact makes it slide backward";
equation
  a = der(v);
  f = if forward then Fd + d*v
    elseif backward then -Fd + d*v
    elseif startForward then Fd
    elseif startBackward then -Fd
    else fc;
  0 = if sticking or start then a else fc;
  above = fc > Fs;
  below = fc < -Fs;
  start = false;
  hitForward = not (pre(start) or pre(forward) or pre(startForward)) and v > v_small;
  hitBackward = not (pre(start) or pre(backward) or pre(startBackward)) and v < -v_small;
  forward = pre(start) and v > 0 or pre(startForward) and v > 0 or pre(forward) and not v <= 0 or hitForward;
  backward = pre(start) and v < 0 or pre(startBackward) and v < 0 or pre(backward) and not v >= 0 or hitBackward;
  startForward = not (hitForward or hitBackward) and (pre(sticking) and pre(above) or pre(startForward) and not (v > 0 or a < -a_small and not v > 0));
  startBackward = not (hitForward or hitBackward) and (pre(sticking) and pre(below) or pre(startBackward) and not (v < 0 or a > a_small and not v < 0));
  sticking = not (start or forward or backward or startForward or startBackward);
  when sticking and not start then
    reinit(v, 0);
  end when;
  annotation(
    Documentation(info = "<html>
<p>The state machine of textbook Fig. 9.37, a Boolean for each state. While the flanges stick the acceleration is zero; the velocity stays a state and is set to zero where sticking
begins. No condition asks whether a real number equals zero: sliding begins in <code>startForward</code>, and becomes <code>forward</code> when the velocity has become positive.</p>
<p>One thing is added. In the textbook's equations <code>startForward</code> follows from <code>fc &gt; Fs</code>, and the same pass makes <code>fc</code> zero, which contradicts it. Here
the transition is taken one pass later.</p>
<p>Impacts change the velocity at an instant: what sticks then slides at once, and what slides may turn back without a stop.</p>
<p>Where the formulation ends: several of these machines that pass their limits at the same instant decide one by one. If the event iteration finds no state in which all agree, the run ends with the error
<code>event-iteration</code>; the other formulations decide together.</p>
<p>The relative velocity is a state. There can be no more of these components than the bodies have degrees of freedom: where a block rubs against the ground and against another block that
does so too, use <code>FrictionConstraint</code>.</p>
</html>"));
end FrictionDFSM;
