model M
equation
  x = f(a = 1, 2);
  x = f(1,);
  x = f(function g(1));
  x = ();
  x = (a)[1];
  x = f(x)[1];
  x = der;
  x = if a then b;
  x = {1, 2;
  x = a[1;
  x = end;
  ok = 1;
end M;
