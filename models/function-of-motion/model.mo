model FunctionOfMotion "Integer, Boolean and enumeration results of functions that are given continuous arguments"
  type Half = enumeration(Lower, Upper);
  function order "The larger first, and which one it is"
    input Real u[2];
    output Real sorted[2];
    output Integer index[2];
  algorithm
    if u[1] >= u[2] then
      sorted := u;
      index := {1, 2};
    else
      sorted := {u[2], u[1]};
      index := {2, 1};
    end if;
  end order;
  function where "Several facts of a number"
    input Real u;
    output Real size;
    output Boolean high;
    output Half side = Half.Upper;
    output Integer whole = 0;
  algorithm
    size := abs(u);
    high := u > 0.5;
    if u < 0 then
      side := Half.Lower;
    end if;
    while whole + 1 <= 4*u loop
      whole := whole + 1;
    end while;
  end where;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  Real s[2], a, b;
  Integer k[2], whole;
  Boolean high, low;
  Half side;
  Real area(start = 0, fixed = true);
  Integer n(start = 0, fixed = true) "Changes of the larger one";
algorithm
  (b, low) := where(-x);
  low := not low;
equation
  der(x) = v;
  der(v) = -x;
  (s, k) = order({x, 0.25});
  (a, high, side) = where(x);
  (, , , whole) = where(time/4);
  der(area) = k[1];
  when change(k[1]) then
    n = pre(n) + 1;
  end when;
end FunctionOfMotion;
