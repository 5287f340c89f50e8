model M
  parameter Boolean use = true;
  A a if use;
  B b[2](each k = 1) = c if not use "text" annotation(x = 1);
  Real r = if use then 1 else 2 "either";
end M;
