model ZeroCapacitance "Junctions whose capacitance without bias is 0 hold no voltage of their own"
  function capacitance
    input Real c0, v;
    output Real c;
  algorithm
    if v > 0.5 then
      c := c0*(1 + v);
    else
      c := c0*exp(v);
    end if;
    for k in 1:3 loop
      c := c*(2 + v);
    end for;
  end capacitance;
  parameter Real C0 = 0, R = 2;
  Real u = sin(time);
  Real v1(start = 0.1), i1, c1 "Defined as a product";
  Real v2(start = 0.1), i2, c2 "Result of a function";
  Real v3(start = 0.1), i3, c3 "A parameter under another name";
equation
  c1 = C0*(1 + v1^2) + 3*(C0*v1);
  i1 = c1*der(v1);
  R*i1 = u - v1 - v1^3;
  c2 = capacitance(C0, v2);
  i2 = c2*der(v2);
  R*i2 = u - v2 - v2^3;
  c3 = C0;
  i3 = c3*der(v3);
  R*i3 = u - v3 - v3^3;
end ZeroCapacitance;
