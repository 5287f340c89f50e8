model BridgeSixPulse "Six-pulse bridge of ideal diodes with source inductance and a constant current"
  model Bridge "Six ideal diodes behind inductances"
    parameter Real shift "of the phases";
    parameter Real i0[3] "currents at the start";
    parameter Real V = 100;
    parameter Real L = 1e-3;
    parameter Real w = 2*3.14159265358979324*50;
    Real i[3](start = i0, fixed = {false, false, false}), e[3], star;
    Real u[3], up[3], um[3], ip[3], im[3];
    Real sp[3](start = i0 - {1, 1, 1}), sm[3](start = -i0 - {1, 1, 1}) "curve parameters: negative where a diode blocks";
    Real positive, negative, id;
  equation
    i[1] + i[2] + i[3] = 0;
    for k in 1:3 loop
      e[k] = V*sin(w*time - shift - (k - 1)*2*3.14159265358979324/3);
      L*der(i[k]) = e[k] + star - u[k];
      i[k] = ip[k] - im[k];
      up[k] = u[k] - positive;
      up[k] = if sp[k] < 0 then sp[k] else 0;
      ip[k] = if sp[k] < 0 then 0 else sp[k];
      um[k] = negative - u[k];
      um[k] = if sm[k] < 0 then sm[k] else 0;
      im[k] = if sm[k] < 0 then 0 else sm[k];
    end for;
    id = ip[1] + ip[2] + ip[3];
  end Bridge;
  Bridge b(shift = 0, i0 = {0, -10, 10});
  parameter Real Id = 10;
  Real ud = b.positive - b.negative;
equation
  b.negative = 0;
  b.id = Id;
end BridgeSixPulse;
