within Saltus.Mechanics;
model FrictionConstraint "Dry friction as a constraint on the velocity while the flanges stick"
  extends Interfaces.Friction;
  Integer mode(start = 0, min = -1, max = 1) "1 forward, -1 backward, 0 sticks";
initial equation
  pre(mode) = if v > 0 then 1 elseif v < 0 then -1 else 0;
equation
  mode = if pre(mode) == 1 then (if v < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
    elseif f > Fs then 1 elseif f < -Fs then -1 else 0;
  0 = if mode == 0 then v else f - mode*Fd - d*v;
  annotation(
    Documentation(info = "<html>
<p>The switch equation of textbook section 9.12, on the velocity itself: while the flanges stick the relative velocity is no state, so that nothing drifts and nothing has to be set to
zero by hand. Sticking ends where the force of the constraint passes <code>Fs</code>.</p>
</html>"));
end FrictionConstraint;
