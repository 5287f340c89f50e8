model Quantiser "Quantisation with hysteresis (H9.6): the output follows in steps of q/2 and is never further away than q/2"
  parameter Real q = 0.5;
  Real x = 2*sin(time);
  discrete Real y(start = 0, fixed = true);
equation
  when {x > pre(y) + q/2, x < pre(y) - q/2} then
    y = if x > pre(y) then pre(y) + q/2 else pre(y) - q/2;
  end when;
end Quantiser;
