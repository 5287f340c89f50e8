within Saltus.Mechanics;
model FrictionNet "Dry friction as a Petri net: each condition is a single relation"
  extends Interfaces.Friction(v(stateSelect = StateSelect.always));
  Units.Acceleration a "Relative acceleration";
  Real s(unit = "1") "Parameter of the curve of sticking: force by Fs within -1 and 1, acceleration beyond";
  PetriNets.Place start(isInitial = true, nIn = 0, nOut = 3) "Before the first event";
  PetriNets.Place forward(nIn = 4, nOut = 2) "Slides forward";
  PetriNets.Place backward(nIn = 4, nOut = 2) "Slides backward";
  PetriNets.Place startForward(nOut = 2) "Begins to slide forward";
  PetriNets.Place startBackward(nOut = 2) "Begins to slide backward";
  PetriNets.Place sticking(nIn = 5, nOut = 4) "Sticks";
  PetriNets.Transition c1(condition = v < 0) "start to backward";
  PetriNets.Transition c2(condition = v > 0) "start to forward";
  PetriNets.Transition c3(condition = not (v < 0 or v > 0)) "start to sticking";
  PetriNets.Transition c4(condition = v < 0) "startBackward to backward";
  PetriNets.Transition c5(condition = v > 0) "startForward to forward";
  PetriNets.Transition c6(condition = s < -1) "sticking to startBackward";
  PetriNets.Transition c7(condition = s > 1) "sticking to startForward";
  PetriNets.Transition c8(condition = s >= -1) "startBackward to sticking";
  PetriNets.Transition c9(condition = s <= 1) "startForward to sticking";
  PetriNets.Transition c10(condition = v >= 0) "backward to sticking";
  PetriNets.Transition c11(condition = v <= 0) "forward to sticking";
  PetriNets.Transition c12(condition = v > v_small) "backward to forward by an impact";
  PetriNets.Transition c13(condition = v < -v_small) "forward to backward by an impact";
  PetriNets.Transition c14(condition = v > v_small) "sticking to forward by an impact";
  PetriNets.Transition c15(condition = v < -v_small) "sticking to backward by an impact";
protected
  constant Units.Acceleration unit = 1 "Of the curve's parameter beyond -1 and 1";
equation
  a = der(v);
  if forward.token then
    f = Fd + d*v;
    s = 1;
  elseif backward.token then
    f = -Fd + d*v;
    s = -1;
  else
    a = unit*(if startForward.token then s - 1 elseif startBackward.token then s + 1 else 0);
    f = if startForward.token then Fd elseif startBackward.token then -Fd else Fs*s;
  end if;
  when sticking.token then
    reinit(v, 0);
  end when;
  connect(start.outTransition[1], c1.inPlace[1]);
  connect(start.outTransition[2], c2.inPlace[1]);
  connect(start.outTransition[3], c3.inPlace[1]);
  connect(c1.outPlace[1], backward.inTransition[1]);
  connect(c2.outPlace[1], forward.inTransition[1]);
  connect(c3.outPlace[1], sticking.inTransition[1]);
  connect(startBackward.outTransition[1], c4.inPlace[1]);
  connect(c4.outPlace[1], backward.inTransition[2]);
  connect(startForward.outTransition[1], c5.inPlace[1]);
  connect(c5.outPlace[1], forward.inTransition[2]);
  connect(sticking.outTransition[3], c6.inPlace[1]);
  connect(c6.outPlace[1], startBackward.inTransition[1]);
  connect(sticking.outTransition[4], c7.inPlace[1]);
  connect(c7.outPlace[1], startForward.inTransition[1]);
  connect(startBackward.outTransition[2], c8.inPlace[1]);
  connect(c8.outPlace[1], sticking.inTransition[2]);
  connect(startForward.outTransition[2], c9.inPlace[1]);
  connect(c9.outPlace[1], sticking.inTransition[3]);
  connect(backward.outTransition[2], c10.inPlace[1]);
  connect(c10.outPlace[1], sticking.inTransition[4]);
  connect(forward.outTransition[2], c11.inPlace[1]);
  connect(c11.outPlace[1], sticking.inTransition[5]);
  connect(backward.outTransition[1], c12.inPlace[1]);
  connect(c12.outPlace[1], forward.inTransition[3]);
  connect(forward.outTransition[1], c13.inPlace[1]);
  connect(c13.outPlace[1], backward.inTransition[3]);
  connect(sticking.outTransition[1], c14.inPlace[1]);
  connect(c14.outPlace[1], forward.inTransition[4]);
  connect(sticking.outTransition[2], c15.inPlace[1]);
  connect(c15.outPlace[1], backward.inTransition[4]);
  annotation(
    Documentation(info = "<html>
<p>The net of textbook Fig. 9.43 with the conditions 9.64. Six places with one token among them are the state machine of <code>FrictionDFSM</code>; the curve of <code>FrictionCurve</code> makes
the beginning of a motion a relation of its parameter. Condition <code>c3</code> is written without an equality of real numbers.
The last four transitions are added for impacts, which change the velocity at an instant.</p>
<p>The relative velocity is a state. There can be no more of these components than the bodies have degrees of freedom: where a block rubs against the ground and against another block that
does so too, use <code>FrictionConstraint</code>.</p>
</html>"));
end FrictionNet;
