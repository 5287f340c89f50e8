model M
  Real x, y(start = 1) = 2 "two", z[3] := {1, 2, 3};
  Real[2, :] a[3];
  parameter Integer n(min = 1, final max = 10) = 3 annotation(Evaluate = true);
  flow parameter input Real f;
  stream discrete output Real s;
  constant .P.Q c;
  Heater h(T = 1) if n > 2 and use "optional";
  redeclare final inner outer replaceable A b constrainedby B(x = 1) "later" annotation(Dialog());
  replaceable A c1 "own" annotation(u = 1), c2 constrainedby B "shared" annotation(v = 2);
protected
  Real p;
public
  Real q;
  'quoted name' 'a \' b';
end M;
