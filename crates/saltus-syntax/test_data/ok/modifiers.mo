model M
  extends Base(
    a.b(c = 1) = 2,
    each final x(each start = 0) "described",
    redeclare model Inner = Other(k = 3),
    redeclare each final Real r[3] = {1, 2, 3} "new",
    redeclare replaceable Real rr constrainedby Number,
    replaceable function f = g constrainedby h,
    replaceable parameter Real p = 1 "par",
    empty(),
    plain,
    v = break,
    break gone,
    break connect(a.b[1], c)) annotation(Icon());
end M;
