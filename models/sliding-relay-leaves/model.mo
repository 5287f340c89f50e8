model SlidingRelayLeaves "x' = -sign(x) + 1.5 sin t: slides where the drive is below one, leaves where it is above"
  Real x(start = 1, fixed = true);
equation
  der(x) = -sign(x) + 1.5*sin(time);
end SlidingRelayLeaves;
