model PlatePendulum "A swinging pendulum strikes a guided plate that lies on a stop (001, Fig. 3)"
  parameter Real mp = 1 "of the pendulum, at its nose";
  parameter Real l = 1;
  parameter Real m = 2 "of the plate";
  parameter Real g = 9.81;
  parameter Real e = 0.5 "restitution between nose and plate";
  parameter Real R = 4 "friction of the guide";
  parameter Real y0 = -0.5 "height of the plate on the stop";
  Real phi(start = 0, fixed = true), w(start = 5, fixed = true);
  Real y(start = y0, fixed = true), v(start = 0, fixed = true);
  Real nose = -l*cos(phi) "height";
  Real F "of nose on plate", N "of the stop", f "friction";
  Boolean rests(start = true, fixed = true);
  Integer mode(start = 0, fixed = true) "of the guide: 1 up, -1 down, 0 stuck";
equation
  der(phi) = w;
  mp*l^2*der(w) = -mp*g*l*sin(phi) - F*l*sin(phi);
  der(y) = v;
  m*der(v) = F - m*g - f + N;
  F = 0;
  when nose >= y and der(nose) > v then
    Saltus.Impact.restitution(der(nose) - v, e, F);
  end when;
  rests = if pre(rests) then N >= 0 else y <= y0 and v < 0;
  0 = if rests then y - y0 else N;
  mode = if rests then 0
    elseif pre(mode) == 1 then (if v < 0 then 0 else 1)
    elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
    elseif f > R then 1 elseif f < -R then -1 else 0;
  0 = if rests then f else if mode == 0 then v else f - mode*R;
end PlatePendulum;
