model Coupled
  parameter Real J1 = 1, J2 = 2, ratio = 3;
  Real phi1(start = 0, fixed = true), w1(start = 0, fixed = true), a1, tau1;
  Real phi2(stateSelect = StateSelect.prefer), w2(stateSelect = StateSelect.prefer), a2, tau2;
equation
  w1 = der(phi1);
  a1 = der(w1);
  J1*a1 = tau1 + sin(time);
  w2 = der(phi2);
  a2 = der(w2);
  J2*a2 = tau2;
  phi1 = ratio*phi2;
  0 = ratio*tau1 + tau2;
end Coupled;
