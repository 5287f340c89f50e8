model ZeroResistance "Two capacitors joined by a resistor of 0 ohm: the term is taken out, the index is reduced"
  parameter Real R1 = 2, R = 0, C1 = 0.1, C2 = 0.3;
  parameter Real R2 = R "The value comes from another parameter";
  Real v1(start = 1), v2, i, i1;
equation
  R1*i1 = -v1;
  C1*der(v1) = i1 - i;
  C2*der(v2) = i;
  R2*i = v1 - v2;
end ZeroResistance;
