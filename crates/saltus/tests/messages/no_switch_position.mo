model NoSwitchPosition
  Boolean closed = u < 1;
  Real u = if closed then 2*time else 0;
end NoSwitchPosition;
