model FourQuadrant "A line of frequency 1/(2 pi), its inductance, and a converter that connects the intermediate circuit or shorts it, so that the line current stays near a sine"
  parameter Real U = 1000 "Peak of the line voltage, V";
  parameter Real L = 0.02 "Line and filter, H";
  parameter Real R = 0.01 "Of the line, Ohm";
  parameter Real C = 20 "Intermediate circuit, F";
  parameter Real I = 422 "The engine, A";
  parameter Real Y0 = 1000 "Peak of the wanted line current, A";
  parameter Real B = 200 "Half-width of the band, A";
  parameter Real share = 0.25 "Of the inductance that lies before the filter";
  Real uN = U*sin(time) "Line voltage, V";
  Real Y = Y0*sin(time) "Wanted line current, A";
  Real i(start = 0, fixed = true) "Line current, A";
  Real uz(start = 1184, fixed = true) "Intermediate circuit, V";
  Real uF "Filter, V";
  Boolean Az(start = false, fixed = true) "The intermediate circuit is connected";
equation
  Az = if pre(Az) then not i < Y - B else i > Y + B;
  L*der(i) = uN - R*i - (if Az then uz else 0);
  C*der(uz) = (if Az then i else 0) - I;
  uF = uN - R*i - share*L*der(i);
end FourQuadrant;
