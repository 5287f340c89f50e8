model ClutchLeavesPeak "A one-way clutch with a peak of friction: the parameter of its characteristic falls below the peak when it begins to slide, and only pre remembers that it did"
  parameter Real J = 4;
  parameter Real slide = 1 "Torque while sliding";
  parameter Real peak = 1.5 "Torque up to which it is locked";
  Real w(start = 0, fixed = true);
  Real a = der(w);
  Real tau;
  Real s "Torque while locked, acceleration beyond the sliding torque while not";
  Boolean start(start = false, fixed = true);
  Boolean stuck(start = true, fixed = true);
  Boolean locked;
equation
  J*a = time - tau;
  start = pre(stuck) and (s > peak or pre(start) and s > slide);
  locked = pre(stuck) and not start;
  a = if locked then 0 else s - slide;
  tau = if locked then s else slide;
  stuck = locked or w <= 0;
end ClutchLeavesPeak;
