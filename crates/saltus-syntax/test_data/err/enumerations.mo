package P
  type A = enumeration(a b);
  type B = enumeration(a,);
  type C = enumeration a, b;
  type D = ;
  function f = der(g);
  type ok = Real;
end P;
