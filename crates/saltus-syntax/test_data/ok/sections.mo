model M
  Real a;
equation
  a = 1;
algorithm
  b := 2;
protected
  Real b;
equation
initial equation
public
  Real c;
initial algorithm
  c := 3;
end M;
