model DoubleCrossing "Two crossings a millisecond apart, inside one step"
  Real x(start = 0.30249975, fixed = true);
  Boolean low = x < 0;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 2*(time - 1.55);
  when change(low) then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StartTime = 1, StopTime = 4));
end DoubleCrossing;
