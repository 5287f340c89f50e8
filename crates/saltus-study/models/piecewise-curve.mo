model PiecewiseCurve "A function of three slopes: as if-expression, as products with m_l, m_c, m_r, and turned round to be solved for x"
  parameter Real x1 = -1;
  parameter Real x2 = 1;
  parameter Real a1 = 2;
  parameter Real b1 = 1.5;
  parameter Real a2 = 0.5;
  parameter Real b2 = 0;
  parameter Real a3 = 5;
  parameter Real b3 = -4.5;
  Real x "Input";
  Real y "By the if-expression";
  Real z "By products (9.32)";
  Real back "Solved from y (9.33)";
  Integer region;
  Real ml = if region < 0 then 1 else 0;
  Real mc = if region == 0 then 1 else 0;
  Real mr = if region > 0 then 1 else 0;
equation
  x = 2.5*sin(time);
  y = if x < x1 then a1*x + b1 elseif x < x2 then a2*x + b2 else a3*x + b3;
  region = if x < x1 then -1 elseif x < x2 then 0 else 1;
  z = ml*(a1*x + b1) + mc*(a2*x + b2) + mr*(a3*x + b3);
  y = if back < x1 then a1*back + b1 elseif back < x2 then a2*back + b2 else a3*back + b3;
end PiecewiseCurve;
