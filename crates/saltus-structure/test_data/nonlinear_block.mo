model NonlinearBlock
  Real x(start = 0.5), y, z, w;
equation
  x + sin(y) = 1;
  y + x*z = 2;
  z = 3*x + y;
  w = z*2;
end NonlinearBlock;
