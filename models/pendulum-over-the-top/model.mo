model PendulumOverTheTop "A pendulum that turns over"
  parameter Real g = 9.81;
  Real phi(start = 0, fixed = true);
  Real w(start = 7, fixed = true);
  Real x = sin(phi);
  Real y = -cos(phi);
  Integer turns(start = 0, fixed = true);
equation
  der(phi) = w;
  der(w) = -g*sin(phi);
  when phi > 2*3.14159265358979324*(pre(turns) + 1) then
    turns = pre(turns) + 1;
  end when;
end PendulumOverTheTop;
