model TwelvePulseIdeal "Two six-pulse bridges in series on voltages that are 30 degrees apart; diodes without resistance and without leakage"
  constant Real pi = 3.14159265358979323846;
  parameter Real R = 10, L = 0.01, V = 100, f = 50;
  parameter Real Ron = 0, Goff = 0;
  Real v[3] = {V*sin(2*pi*f*time - 2*pi/3*k) for k in 0:2} "First three phases, star grounded";
  Real w[3] = {V*sin(2*pi*f*time + pi/6 - 2*pi/3*k) for k in 0:2} "Second three phases, star free";
  Real p1, n1, n2 "Potentials of the outputs; the positive one of the second bridge is n1";
  Real w0 "Potential of the second star";
  Real s[12](each start = 0);
  Real id[12];
  Boolean off[12](each start = true);
  Real u "Output";
  Real i(start = 5, fixed = true);
equation
  for k in 1:12 loop
    off[k] = s[k] < 0;
    id[k] = if off[k] then Goff*s[k] else s[k];
  end for;
  for k in 1:3 loop
    v[k] - p1 = if off[k] then s[k] else Ron*s[k];
    n1 - v[k] = if off[3 + k] then s[3 + k] else Ron*s[3 + k];
    w[k] + w0 - n1 = if off[6 + k] then s[6 + k] else Ron*s[6 + k];
    n2 - w[k] - w0 = if off[9 + k] then s[9 + k] else Ron*s[9 + k];
  end for;
  for b in 0:3 loop
    sum(id[3*b + k] for k in 1:3) = i;
  end for;
  u = p1 - n2;
  L*der(i) = u - R*i;
end TwelvePulseIdeal;
