model WhenInitial
  discrete Real y(start = 3), z(start = 4);
  Boolean b;
equation
  b = time > 1;
  when {initial(), b} then
    y = time + 7;
  end when;
  when b then
    z = pre(z) + 1;
  elsewhen not b then
    z = 0;
  end when;
end WhenInitial;
