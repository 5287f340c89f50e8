model MassStays "A tank whose level is preferred as state, heated by a switch: its mass is what the balance keeps"
  parameter Real A = 0.5 "Cross section";
  parameter Real q = 2 "Inflow";
  Real m(start = 500, fixed = true) "Mass";
  Real level(start = 1, stateSelect = StateSelect.prefer);
  Real d "Density";
  Real T "Temperature, without a storage of its own";
equation
  der(m) = q;
  m = A*level*d;
  d = 1000 - 0.5*T;
  T = if time < 1 then 0 else 80;
end MassStays;
