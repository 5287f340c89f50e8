model NodeSaturated "A node charged by a saturated transistor and connected to ground by 1e-12 S: at the start value nothing else depends on its voltage"
  parameter Real G = 1e-12;
  Real v(start = 0) "Voltage of the node";
  Real u = 5 - v "Over the transistor";
  Real i "Current of the transistor, 1e-4 A from 1 V on";
  Real x(start = 0, fixed = true);
equation
  i = noEvent(if u > 1 then 1e-4 elseif u < -1 then -1e-4 else 1e-4*u*(2 - abs(u)));
  i = G*v*(1 + x);
  der(x) = 1;
end NodeSaturated;
