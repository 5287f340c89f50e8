within Saltus.HybridAutomata.Examples;
model FilamentPendulum "A mass on a filament: angle and angular velocity while it is taut, position and velocity in free flight"
  extends Icons.Example;
  parameter Real m(unit = "kg") = 0.75 "Mass";
  parameter Real g(unit = "m/s2") = 9.80665 "Gravity";
  parameter Real L(unit = "m") = 1 "Length of the filament";
  parameter Real cp(unit = "N.m.s/rad") = 0.97 "Damping while taut";
  parameter Real c(unit = "N.s/m") = 0.95 "Damping in free flight";
  parameter Real J(unit = "kg.m2") = m*L^2 "Inertia";
  Real phi(unit = "rad", start = 2.0165086394235323) "From the upward vertical";
  Real omega(unit = "rad/s", start = 8) "Angular velocity";
  Real x(unit = "m") "Position";
  Real y(unit = "m") "Position";
  Real vx(unit = "m/s") "Velocity";
  Real vy(unit = "m/s") "Velocity";
  Real F(unit = "N") = -m*g*cos(phi) + m*L*omega^2 "Force of the taut filament";
  Real r(unit = "m") = sqrt(x^2 + y^2) "Distance from the pivot";
  Location taut(isInitial = true) "Two states";
  Location free "Four states";
  Transition release(guard = F < 0) "To free flight";
  Transition catch(guard = r > L) "The radial velocity is lost";
equation
  if taut.active then
    der(phi) = omega;
    J*der(omega) = m*g*L*sin(phi) - cp*omega;
    x = L*sin(phi);
    y = L*cos(phi);
    vx = L*omega*cos(phi);
    vy = -L*omega*sin(phi);
  else
    phi = 3.14159265358979324 + atan(x/y);
    omega = (y*vx - x*vy)/r^2;
    der(x) = vx;
    der(y) = vy;
    m*der(vx) = -c*vx;
    m*der(vy) = -c*vy - m*g;
  end if;
  connect(taut.departure[1], release.from);
  connect(release.to, free.arrival[1]);
  connect(free.departure[1], catch.from);
  connect(catch.to, taut.arrival[1]);
  annotation(
    experiment(StopTime = 3, Tolerance = 1e-10),
    Documentation(info = "<html><p>The equations of each location are the reset map into the other: at every change the new states begin where the equations
have left them.</p></html>"));
end FilamentPendulum;
