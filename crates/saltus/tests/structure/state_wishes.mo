model StateWishes "Two coupled inertias; of four candidates the preferred ones are states, the avoided one is not"
  parameter Real ratio = 3;
  Real phi1;
  Real w1(stateSelect = StateSelect.avoid);
  Real phi2(stateSelect = StateSelect.prefer);
  Real w2;
  Real tau;
equation
  der(phi1) = w1;
  der(phi2) = w2;
  phi1 = ratio*phi2;
  2*der(w1) = sin(time) - tau;
  5*der(w2) = ratio*tau;
end StateWishes;
