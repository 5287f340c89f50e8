model MotionByRule "A motion given by position, speed and acceleration that do not belong together"
  function position
    input Real motion[3];
    input Real t;
    output Real q;
  algorithm
    q := motion[1];
    annotation (
      derivative(noDerivative = motion) = speed,
      InlineAfterIndexReduction = true);
  end position;

  function speed
    input Real motion[3];
    input Real t;
    input Real t_der;
    output Real qd;
  algorithm
    qd := motion[2];
    annotation (
      derivative(noDerivative = motion, order = 2) = acceleration,
      InlineAfterIndexReduction = true);
  end speed;

  function acceleration
    input Real motion[3];
    input Real t;
    input Real t_der;
    input Real t_der2;
    output Real qdd;
  algorithm
    qdd := motion[3];
  end acceleration;

  parameter Real rest = 0;
  parameter Real pull = 3;
  Real u[3] = {sin(time), 2 + time, 7*time};
  Real x, v, a, f;
  Real y, w, b;
equation
  x = position(u, time);
  v = der(x);
  a = der(v);
  f = 2*a;
  y = position({rest, rest, pull}, time);
  w = der(y);
  b = der(w);
end MotionByRule;
