model PulseModulator "A pulse width modulator of 10 kHz with feedback: fast switching that is no sliding"
  parameter Real f = 1e4 "Hz";
  parameter Real T = 1e-2 "Time constant of the filter";
  Real y(start = 0, fixed = true);
  Real carrier = 4*abs(f*time - floor(f*time + 0.5)) - 1 "Triangle between -1 and 1";
  Real u;
equation
  u = if 0.5 - 0.4*y > carrier then 1 else -1;
  T*der(y) = u - y;
end PulseModulator;
