model FreePotentials "Three sources in a loop without a ground: the equation that is left says 0 = 0 but for the round-off of 300 V"
  Real s(start = 1000, fixed = true);
  Real p, q, r "Potentials; only their differences are determined";
  Real u = p - q;
equation
  der(s) = 1;
  p - q = 0.1*s;
  q - r = 0.2*s;
  r - p = -0.3*s;
end FreePotentials;
