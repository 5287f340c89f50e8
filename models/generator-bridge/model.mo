model GeneratorBridge "A generator whose speed rises, with the currents of its rotor frame as states, feeds a bridge of diodes and a constant current"
  constant Real pi = 3.141592653589793;
  parameter Real E = 100;
  parameter Real L = 1e-3;
  parameter Real I = 10 "Current of the load";
  parameter Real w0 = 600;
  parameter Real a = 600;
  parameter Real Ron = 1e-5;
  parameter Real Goff = 1e-5;
  Real gamma = w0*time + a*time^2/2;
  Real w = w0 + a*time;
  Real id(start = 0), iq(start = 0);
  Real vd, vq;
  Real i[3], v[3] "Phases against the star point";
  Real vs "Star point";
  Real vp, vn "Rails";
  Real s[6], ud[6], jd[6];
  Boolean off[6](each start = true);
equation
  for k in 1:3 loop
    i[k] = id*cos(gamma - 2*pi/3*(k - 1)) - iq*sin(gamma - 2*pi/3*(k - 1));
    v[k] = vd*cos(gamma - 2*pi/3*(k - 1)) - vq*sin(gamma - 2*pi/3*(k - 1));
    ud[k] = v[k] + vs - vp;
    ud[k + 3] = vn - v[k] - vs;
    i[k] = jd[k] - jd[k + 3];
  end for;
  vd = E - L*(der(id) - w*iq);
  vq = -L*(der(iq) + w*id);
  for k in 1:6 loop
    off[k] = s[k] < 0;
    ud[k] = if off[k] then s[k] else Ron*s[k];
    jd[k] = if off[k] then Goff*s[k] else s[k];
  end for;
  jd[1] + jd[2] + jd[3] = I;
  vn = 0;
initial equation
  i[1] = I;
  i[2] = 0;
end GeneratorBridge;
