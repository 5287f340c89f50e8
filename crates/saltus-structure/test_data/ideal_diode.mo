model Diode
  parameter Real Ron = 1e-5, Goff = 1e-5, R = 1, C = 1;
  Real s, v, i, uc(start = 0, fixed = true);
  Boolean off(start = true);
equation
  off = s < 0;
  v = s*(if off then 1 else Ron);
  i = s*(if off then Goff else 1);
  sin(10*time) = v + R*i + uc;
  C*der(uc) = i;
end Diode;
