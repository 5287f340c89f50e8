model SampledController "A plant with a digital controller"
  parameter Real T = 0.5;
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true);
equation
  der(x) = u;
  when sample(T, T) then
    u = -x;
  end when;
end SampledController;
