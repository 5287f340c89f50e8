model VehicleSticks "A vehicle flies against a sloped wall and sticks to it; Newton's law is written for x and y separately"
  parameter Real m = 2 "kg";
  parameter Real slope = 0.5 "Angle of the wall";
  parameter Real thrust = 6 "Forwards";
  parameter Real reaction = 40 "The wall pushes with at most this force";
  parameter Real rubbing = 6.5 "Friction on the wall";
  Real x(start = -1, fixed = true);
  Real y(start = 0, fixed = true);
  Real vx(start = 1, fixed = true);
  Real vy(start = 0, fixed = true);
  Real depth = x*sin(slope) - y*cos(slope) "Into the wall";
  Real speed = vx*sin(slope) - vy*cos(slope) "Into the wall";
  Real along = vx*cos(slope) + vy*sin(slope) "Up the wall";
  Real normal = if depth >= 0 then (if speed > 0 then reaction else 0) else 0;
  Real friction = if depth >= 0 then rubbing*sign(along) else 0;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = thrust - normal*sin(slope) - friction*cos(slope);
  m*der(vy) = normal*cos(slope) - friction*sin(slope);
end VehicleSticks;
