function square "Could be inlined at once"
  input Real x;
  output Real y;
algorithm
  y := x*x;
  annotation(LateInline = true);
end square;

function cube "Has a loop and stays a call; its derivative is that of the annotation"
  input Real x;
  output Real y;
algorithm
  y := 1;
  for i in 1:3 loop
    y := y*x;
  end for;
  annotation(derivative = cube_der, Inline = false);
end cube;

function cube_der
  input Real x;
  input Real x_der;
  output Real y_der;
algorithm
  y_der := 3*square(x)*x_der;
  annotation(Inline = true);
end cube_der;

model LateInline "Both kinds of functions through index reduction"
  Real x(start = 1);
  Real y;
  Real v;
equation
  der(x) = v;
  y = square(x) + cube(x);
  y = 2 + time;
end LateInline;
