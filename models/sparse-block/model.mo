model SparseBlock "Thirty nonlinear equations, each between neighbours"
  constant Integer n = 30;
  Real x[n];
protected
  function f
    input Real z;
    output Real y;
  algorithm
    y := z^3 + z;
    annotation(Inline = true);
  end f;
equation
  for i in 1:n loop
    (if i > 1 then f(x[max(i - 1, 1)]) else f(time/10)) - 4*f(x[i]) + (if i < n then f(x[min(i + 1, n)]) else f((n + 1 + time)/10))
      = f((i - 1 + time)/10) - 4*f((i + time)/10) + f((i + 1 + time)/10);
  end for;
end SparseBlock;
