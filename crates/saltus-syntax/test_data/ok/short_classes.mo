package P
  type Length = Real(final quantity = "Length", unit = "m") "a length" annotation(Icon());
  type Vec = Real[3];
  connector RealInput = input Real;
  connector Out = output .P.Length[2, :](each start = 1);
  type E = enumeration(one "first", two annotation(x = 1), 'three four');
  type None = enumeration();
  type Any = enumeration(:) "any enumeration";
  function fx = der(P.f, x, y) "derivative";
  replaceable package Medium = P.Q constrainedby P.R(a = 1) "medium" annotation(choicesAllMatching = true);
end P;
