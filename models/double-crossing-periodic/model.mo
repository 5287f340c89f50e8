model DoubleCrossingPeriodic "The dip comes again every three seconds"
  parameter Real w = 2*3.14159265358979324/3;
  Real x(start = cos(w*0.0005) - cos(w*1.55), fixed = true);
  Boolean low = x < 0;
equation
  der(x) = w*sin(w*(time - 1.55));
end DoubleCrossingPeriodic;
