model FlowBegins "A port that opens: at the flow zero, from which the solution is looked for, the pressure does not depend on the flow"
  parameter Real k = 2;
  Boolean open = time >= 1;
  Real p = k*time^2;
  Real m "Flow into the port";
equation
  if open then
    p = noEvent(if m < 0 then k*m^2 else 0);
  else
    m = 0;
  end if;
end FlowBegins;
