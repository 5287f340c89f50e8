model SumThatOthersAreDividedBy "Fractions of a sum that has no start value"
  model Solution "Water whose molecules cling to each other"
    parameter Real K = 50;
    parameter Real B = 55;
    Real r "Other particles";
    Real n "All particles";
    Real p(start = 55) "Clusters";
    Real f(start = 1) "Free molecules";
    Real x "Their fraction";
  equation
    n = p + r;
    x = f/n;
    x = (2*K + n/B - sqrt(4*K*n/B + (n/B)^2))/(2*K^2);
    f = p*(1 - K*x);
  end Solution;
  Solution a(r = 0.1 + 0.1*time);
  Solution b[2](r = {0.1, 0.2});
end SumThatOthersAreDividedBy;
