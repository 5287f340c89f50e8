model PreOfFolded "`pre` of a variable that equations make constant has its own start"
  Integer n;
  Integer jump(start = 0, fixed = true);
initial equation
  pre(n) = 0;
equation
  n = 3;
  when initial() then
    jump = n - pre(n);
  end when;
end PreOfFolded;
