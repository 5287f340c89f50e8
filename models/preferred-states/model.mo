model PreferredStates "A tank whose balance is in volume and heat, and whose level and temperature are to be states"
  parameter Real A = 2, c = 4000, rho = 1000, q = 0.1, T_in = 350;
  Real level(start = 1, stateSelect = StateSelect.prefer);
  Real T(start = 300, stateSelect = StateSelect.prefer);
  Real m, U, u;
equation
  m = rho*A*level;
  U = m*u;
  u = c*(T - 273.15);
  der(m) = rho*q;
  der(U) = rho*q*c*(T_in - 273.15);
end PreferredStates;
