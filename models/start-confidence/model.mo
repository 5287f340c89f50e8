type Guessed = Real(start = 7);

model M1
  Real x(start = 4.0);
  Real y(start = 5.0);
equation
  x = y;
  der(x) = 0;
end M1;

model M2
  parameter Real xStart = 4.0;
  parameter Real yStart = 5.0;
  Real x(start = xStart);
  Real y(start = yStart);
equation
  x = y;
  der(x) = 0;
end M2;

model MLocal
  parameter Real xStart = 4.0;
  Real x(start = xStart);
end MLocal;

model MLocalWrapped
  parameter Real xStart = 4.0;
  MLocal m(xStart = xStart);
end MLocalWrapped;

model M3
  MLocal mx;
  MLocalWrapped my(xStart = 3.0);
equation
  mx.x = my.m.x;
  der(mx.x) = 0;
end M3;

model M4 "The start value of a type is trusted least"
  Guessed x;
  MLocal m;
equation
  x = m.x;
  der(x) = 0;
end M4;

model StartConfidence "The most trusted start value of aliases holds (specification 8.6.2)"
  M1 m1(x(start = 3.0));
  M2 m2(xStart = 3.0);
  M3 m3;
  M4 m4;
end StartConfidence;
