connector RealInput = input Real;
connector RealOutput = output Real;

block Add
  RealInput u1;
  RealInput u2;
  RealOutput y;
equation
  y = u1 + u2;
end Add;

block Integrator
  RealInput u;
  RealOutput y(start = 0, fixed = true);
equation
  der(y) = u;
end Integrator;

block Constant
  RealOutput y;
equation
  y = 1;
end Constant;

model UnconnectedInput
  Constant one;
  Add add;
  Integrator integrator;
equation
  connect(one.y, add.u1);
  connect(add.y, integrator.u);
end UnconnectedInput;
