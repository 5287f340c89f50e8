model QuaternionTop "A symmetric body that turns freely, its orientation as quaternion"
  parameter Real J[3] = {1, 1, 0.4};
  Real Q[4](start = {1, 0, 0, 0}, each stateSelect = StateSelect.prefer) "rotation, the real part first";
  Real w[3](start = {3, 0, 5}, each fixed = true) "angular velocity in the body";
  Real norm = Q*Q;
initial equation
  Q[2:4] = {0, 0, 0};
equation
  // w = 2 conj(Q) der(Q)
  w[1] = 2*(Q[1]*der(Q[2]) - Q[2]*der(Q[1]) - Q[3]*der(Q[4]) + Q[4]*der(Q[3]));
  w[2] = 2*(Q[1]*der(Q[3]) + Q[2]*der(Q[4]) - Q[3]*der(Q[1]) - Q[4]*der(Q[2]));
  w[3] = 2*(Q[1]*der(Q[4]) - Q[2]*der(Q[3]) + Q[3]*der(Q[2]) - Q[4]*der(Q[1]));
  Q*Q = 1;
  J[1]*der(w[1]) = (J[2] - J[3])*w[2]*w[3];
  J[2]*der(w[2]) = (J[3] - J[1])*w[3]*w[1];
  J[3]*der(w[3]) = (J[1] - J[2])*w[1]*w[2];
end QuaternionTop;
