model SubscriptOutsideInlined "A function small enough to be inlined assigns an element that does not exist (specification 10.5)"
  function mark
    input Real x;
    output Real y[2];
  algorithm
    y := {1, 2};
    y[integer(x)] := 7;
  end mark;
  Real z[2] = mark(1 + 2*time);
end SubscriptOutsideInlined;
