model FreeParameterProduct "A factor made of free parameters without start values"
  parameter Integer n = 2;
  Real uu[n + 1];
  parameter Real k[size(uu,1)-1](each fixed = false);
  parameter Real k_total = 12/product(k);
  parameter Real s = sum(k);
initial equation
  for i in 1:n loop
    k[i] = i + 1;
  end for;
equation
  uu[1] = k_total*time;
  for i in 1:n loop
    uu[i+1] = k[i]*uu[i];
  end for;
end FreeParameterProduct;
