model SampledIntegrator "A sum, taken every tenth of a second"
  parameter Real T = 0.1;
  Real u = time;
  discrete Real y(start = 0, fixed = true);
equation
  when sample(0, T) then
    y = pre(y) + T*u;
  end when;
end SampledIntegrator;
