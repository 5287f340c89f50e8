model M parameter Integer n=3;Real x[n]=if n>2then{1,2,3}else fill(0.,n);equation for i in 1:n loop x[i]=1e0;end for;end M;
