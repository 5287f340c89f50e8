model RotatingFrame "Linear equations whose coefficients pass through zero: each pivot is the wrong one at some time"
  Real c = cos(time);
  Real s = sin(time);
  Real x, y;
  Real p, q, r;
equation
  s*x + c*y = 1;
  c*x - s*y = time;
  c*p - s*q = 1;
  c*(s*p + c*q) - s*r = 2;
  s*(s*p + c*q) + c*r = 3;
end RotatingFrame;
