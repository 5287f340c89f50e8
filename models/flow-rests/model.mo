model FlowRests "Two tanks come to the same level; the flow between them carries heat and ends in round-off"
  Real h1(start = 3, fixed = true) "level";
  Real h2(start = 1, fixed = true) "level";
  Real E1(start = 900, fixed = true) "heat";
  Real E2(start = 350, fixed = true) "heat";
  Real T1 = E1/h1 "temperature";
  Real T2 = E2/h2 "temperature";
  Real m = h1 - h2 "flow";
  Real H = semiLinear(m, T1, T2) "flow of heat";
equation
  der(h1) = -m;
  der(h2) = m;
  der(E1) = -H;
  der(E2) = H;
end FlowRests;
