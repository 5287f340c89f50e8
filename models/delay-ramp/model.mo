model DelayRamp "The kink of a ramp comes out of a delay exactly"
  Real u = if time < 0.3 then 0 else time - 0.3;
  Real y = delay(u, 0.25);
  Real z(start = 0, fixed = true);
equation
  der(z) = y;
end DelayRamp;
