within Saltus.Blocks.Examples;
model SpeedControl "A first-order plant under a sampled controller"
  extends Icons.Example;
  Real y(start = 0, fixed = true) "Output of the plant";
  SampledPI controller(period = 0.2, k = 2, Ti = 0.5, r = 1) "Five times a second";
equation
  controller.y = y;
  der(y) = controller.u - y;
  annotation(
    experiment(StopTime = 4, Tolerance = 1e-10),
    Documentation(info = "<html><p>Between samples the output is an exponential.</p></html>"));
end SpeedControl;
