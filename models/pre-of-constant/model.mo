model PreOfConstant "A state of a machine that is left at the first event: its fixed start value is what pre reads at the start, though it is never true"
  Real v(start = 5, fixed = true);
  Boolean begin(start = true, fixed = true);
  Boolean forward(start = false, fixed = true);
equation
  der(v) = if forward then -1 else 0;
  begin = false;
  forward = pre(begin) and v > 0 or pre(forward) and not v <= 0;
end PreOfConstant;
