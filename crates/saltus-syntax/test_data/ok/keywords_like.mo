model models
  Real ends, ifs, _if, der1, Equation, initialized, stream1, time;
  Real assert_, terminal, sample;
equation
  ends = ifs;
end models;
