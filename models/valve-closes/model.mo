model ValveCloses "A tank runs empty through a long pipe; the valve closes at a level and opens later"
  parameter Real A = 1 "area of the tank";
  parameter Real k = 9.81e3 "pressure by level";
  parameter Real M = 1e4 "inertance of the pipe";
  parameter Real R = 2e4 "resistance of the pipe";
  Real h(start = 2, fixed = true) "level";
  Real q(start = 0) "flow";
  Real dp "pressure across the valve";
  Boolean open(start = true, fixed = true);
equation
  A*der(h) = -q;
  M*der(q) = k*h - R*q - dp;
  when h < 1 then
    open = false;
  elsewhen time > 5 then
    open = true;
  end when;
  0 = if open then dp else q;
initial equation
  q = 0;
end ValveCloses;
