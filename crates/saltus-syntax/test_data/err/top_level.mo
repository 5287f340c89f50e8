Real x;
model M end M
within P;
x = 1;
end M;
model N end N;
