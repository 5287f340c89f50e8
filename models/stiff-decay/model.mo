model StiffDecay "A fast variable that follows a slow one"
  Real x(start = 0, fixed = true);
equation
  der(x) = -1000*(x - cos(time));
end StiffDecay;
