model LimiterWithoutWindup
  "First order lag with a limiter that is no windup: the state is set back where it passes a limit and goes on outwards"
  parameter Real K=1;
  parameter Real T=0.1;
  parameter Real outMax=0.5;
  parameter Real outMin=-0.5;
  Real u = sin(time);
  Real state(start=0, fixed=true);
  Real y;
equation
  T*der(state) = K*u - state;
  when state > outMax and K*u - state < 0 then
    reinit(state, outMax);
  elsewhen state < outMin and K*u - state > 0 then
    reinit(state, outMin);
  end when;
  y = max(min(state, outMax), outMin);
end LimiterWithoutWindup;
