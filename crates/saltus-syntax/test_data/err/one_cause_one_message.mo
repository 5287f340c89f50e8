model M
  parameter Real x = ) + (( a b c [ 1 ; 2 ] } then;
  Real y;
equation
  a + = b * ( c ];
  y = 1;
end M;
