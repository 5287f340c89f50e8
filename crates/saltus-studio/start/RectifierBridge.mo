model RectifierBridge "Six-pulse bridge of ideal diodes with source inductance and a constant load current"
  parameter Real V(unit = "V") = 100 "Amplitude of each phase";
  parameter Real L(unit = "H", min = 1e-4, max = 5e-3) = 1e-3 "Inductance of each phase";
  parameter Real Id(unit = "A", min = 1, max = 30) = 10 "Load current";
  final constant Real pi = 3.14159265358979324;
  Real i[3](each unit = "A", start = {0, -Id, Id}, each fixed = false) "Phase currents";
  Real e[3](each unit = "V") "Source voltages";
  Real u[3](each unit = "V"), up[3](each unit = "V"), um[3](each unit = "V");
  Real ip[3](each unit = "A"), im[3](each unit = "A");
  Real sp[3](start = {-1, -Id - 1, Id - 1}), sm[3](start = {-1, Id - 1, -Id - 1}) "Along the diodes' curves: negative where one blocks";
  Real star(unit = "V"), ud(unit = "V") "Voltage of the load";
equation
  i[1] + i[2] + i[3] = 0;
  for k in 1:3 loop
    e[k] = V*sin(2*pi*50*time - (k - 1)*2*pi/3);
    L*der(i[k]) = e[k] + star - u[k];
    i[k] = ip[k] - im[k];
    up[k] = u[k] - ud;
    up[k] = if sp[k] < 0 then sp[k] else 0;
    ip[k] = if sp[k] < 0 then 0 else sp[k];
    um[k] = -u[k];
    um[k] = if sm[k] < 0 then sm[k] else 0;
    im[k] = if sm[k] < 0 then 0 else sm[k];
  end for;
  ip[1] + ip[2] + ip[3] = Id;
  annotation(experiment(StopTime = 0.06));
end RectifierBridge;
