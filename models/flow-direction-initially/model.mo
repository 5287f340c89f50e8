model FlowDirectionInitially "Heat carried through four volumes; which way follows from the temperatures, with which it is solved for"
  parameter Real q = 10 "heating of each volume";
  Real T[4](each start = 350) "temperatures";
  Real m(start = 1) "flow, driven by buoyancy";
  Real H[5] "flows of heat";
initial equation
  der(T) = zeros(4);
equation
  m = 1 + 0.01*(T[4] - 300);
  H[1] = if m > 0 then m*350 else m*T[1];
  for i in 2:4 loop
    H[i] = if m > 0 then m*T[i - 1] else m*T[i];
  end for;
  H[5] = m*T[4];
  for i in 1:4 loop
    der(T[i]) = H[i] - H[i + 1] + q;
  end for;
end FlowDirectionInitially;
