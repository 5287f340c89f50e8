within Saltus.Blocks.Examples;
model RandomNumbers "Uniform and normal noise, and the ten thousandth random number"
  extends Icons.Example;
  UniformNoise uniform(period = 0.001, low = -1, high = 1) "From -1 to 1";
  NormalNoise normal(period = 0.5, mean = 3, sigma = 2, seed = 12345) "Around 3";
  Integer state = minimalStandard(uniform.state) "One step ahead of the uniform noise";
  annotation(
    experiment(StopTime = 10, Tolerance = 1e-6),
    Documentation(info = "<html><p>The states of the generator are those of its authors.</p></html>"));
end RandomNumbers;
