model PiController "An integrating plant with PI control and a limited actuator"
  parameter Real k = 1;
  parameter Real ki = 0.5;
  parameter Real r = 10 "set point";
  Real x(start = 0, fixed = true) "plant";
  Real z(start = 0, fixed = true) "integral of the error, winds up";
  Real y = k*(r - x) + ki*z;
  Real u = if y > 1 then 1 elseif y < -1 then -1 else y;
equation
  der(x) = u;
  der(z) = r - x;
end PiController;
