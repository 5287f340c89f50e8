model M
equation
  r = {1, 2.5, "s", true, false, .x, x.y[1].z[:, 2:end, end - 1]};
  r = [1, 2; 3, 4];
  r = [x];
  r = {i * j for i in 1:n, j in {1, 2}};
  r = {{1, 2}, {}};
  r = sum(x[i] for i);
  r = max(a[i, j] for i in 1:2, j in 1:3);
  r = f();
  r = f(a, b, c = 1, d = g(x));
  r = f(function g(a = 1, b = 2), x, h = function .P.k());
  r = pure(f(x));
  r = initial() and terminal();
  r = x[if a then 1 else 2];
  r = x[integer(y[end])];
  r = String(x, significantDigits = 3);
end M;
