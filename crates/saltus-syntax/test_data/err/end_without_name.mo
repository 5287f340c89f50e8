model M
  Real x;
end;
model N
end if;
end N;
