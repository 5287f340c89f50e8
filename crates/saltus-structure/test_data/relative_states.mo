model Relative
  parameter Real J = 1, d = 0.1;
  Real phi(start = 1), w, a;
  Real phi_rel(stateSelect = StateSelect.prefer), w_rel(stateSelect = StateSelect.prefer), a_rel, tau;
equation
  w = der(phi);
  a = der(w);
  J*a = -tau;
  phi_rel = phi - sin(time);
  w_rel = der(phi_rel);
  a_rel = der(w_rel);
  tau = d*w_rel;
end Relative;
