model Calls
  function root
    input Real u;
    output Real y;
  algorithm
    assert(u > 0, "u must be positive");
    y := sqrt(u);
  end root;
  parameter Real p = -2;
  Real x(start = 1, fixed = true);
  Real y = root(p*x);
equation
  der(x) = 1;
end Calls;
