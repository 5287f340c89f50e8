model M
  import Modelica.Units.SI;
  import C = Modelica.Constants "constants";
  import Modelica.Math.*;
  import A.B . *;
  import Modelica.Units.{SI, Conversions};
  import .Top annotation(x = 1);
end M;
