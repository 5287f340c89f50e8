model PulseParameters "Time constants of a Heidler pulse from its rise and decay times: unknowns of 1e-5 beside one of 1"
  parameter Real T1 = 10e-6 "Rise time";
  parameter Real T2 = 350e-6 "Time to half value";
  parameter Real eta(min = 1e-60, fixed = false, start = 1);
  parameter Real T(min = 1e-60, fixed = false, start = T1*(5*T2/T1)^(1/6)) "Time of the maximum";
  parameter Real T10(min = 1e-60, fixed = false, start = 0.1*T1*(5*T2/T1)^(1/6)) "Time of 10 %";
  parameter Real tau1(min = 1e-60, fixed = false, start = T1);
  parameter Real tau2(min = 1e-60, fixed = false, start = T2);
  Real charge(start = 0, fixed = true);
initial equation
  tau2/T*5 = 1 + (T/tau1)^5;
  eta = (T/tau1)^5/(1 + (T/tau1)^5)*exp(-T/tau2);
  0.1*eta = (T10/tau1)^5/(1 + (T10/tau1)^5)*exp(-T10/tau2);
  0.9*eta = ((T10 + 0.8*T1)/tau1)^5/(1 + ((T10 + 0.8*T1)/tau1)^5)*exp(-(T10 + 0.8*T1)/tau2);
  0.5*eta = ((T10 - 0.1*T1 + T2)/tau1)^5/(1 + ((T10 - 0.1*T1 + T2)/tau1)^5)*exp(-(T10 - 0.1*T1 + T2)/tau2);
equation
  der(charge) = (time/tau1)^5/(1 + (time/tau1)^5)*exp(-time/tau2)/eta;
end PulseParameters;
