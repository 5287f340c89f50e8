model FilamentPendulum "A mass on a filament, in Cartesian coordinates: two states while it is taut, four in free flight"
  parameter Real m = 0.75;
  parameter Real g = 9.80665;
  parameter Real L = 1;
  parameter Real cp = 0.97 "damping while taut";
  parameter Real c = 0.95 "damping in free flight";
  parameter Real phi0 = 2.0165086394235323 "from the upward vertical";
  parameter Real omega0 = 8;
  Real x(start = L*sin(phi0), fixed = true), y(start = L*cos(phi0));
  Real vx(start = L*omega0*cos(phi0), fixed = true), vy(start = -L*omega0*sin(phi0));
  Real F "in the filament, per length";
  Boolean taut(start = true, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x - (if taut then cp else c)*vx;
  m*der(vy) = -F*y - (if taut then cp else c)*vy - m*g;
  when F < 0 then
    taut = false;
  elsewhen x^2 + y^2 > L^2 then
    taut = true;
  end when;
  0 = if taut then x^2 + y^2 - L^2 else F;
end FilamentPendulum;
