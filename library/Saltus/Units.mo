within Saltus;
package Units "Quantities with their units"
  type Voltage = Real(final quantity = "ElectricPotential", final unit = "V") "Voltage, potential";
  type Current = Real(final quantity = "ElectricCurrent", final unit = "A") "Electric current";
  type Resistance = Real(final quantity = "Resistance", final unit = "Ohm") "Resistance";
  type Conductance = Real(final quantity = "Conductance", final unit = "S") "Conductance";
  type Inductance = Real(final quantity = "Inductance", final unit = "H") "Inductance";
  type Capacitance = Real(final quantity = "Capacitance", final unit = "F") "Capacitance";
  type Power = Real(final quantity = "Power", final unit = "W") "Power";
  type Frequency = Real(final quantity = "Frequency", final unit = "Hz") "Frequency";
  type Time = Real(final quantity = "Time", final unit = "s") "Time";
  type Position = Real(final quantity = "Length", final unit = "m") "Position, length";
  type Velocity = Real(final quantity = "Velocity", final unit = "m/s") "Velocity";
  type Acceleration = Real(final quantity = "Acceleration", final unit = "m/s2") "Acceleration";
  type Force = Real(final quantity = "Force", final unit = "N") "Force";
  type Mass = Real(final quantity = "Mass", final unit = "kg", min = 0) "Mass";
  type SpringConstant = Real(final quantity = "TranslationalSpringConstant", final unit = "N/m") "Force of a spring by its extension";
  type DampingConstant = Real(final quantity = "TranslationalDampingConstant", final unit = "N.s/m") "Force of a damper by the velocity";
  type Angle = Real(final quantity = "Angle", final unit = "rad", displayUnit = "deg") "Angle";
  type AngularVelocity = Real(final quantity = "AngularVelocity", final unit = "rad/s") "Angular velocity";
  type AngularAcceleration = Real(final quantity = "AngularAcceleration", final unit = "rad/s2") "Angular acceleration";
  type Torque = Real(final quantity = "Torque", final unit = "N.m") "Torque";
  type Inertia = Real(final quantity = "MomentOfInertia", final unit = "kg.m2", min = 0) "Moment of inertia";
  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, radius = 20),
      Text(extent = {{-80, 50}, {80, -50}}, textString = "[N m]")}),
    Documentation(info = "<html><p>Quantity and unit of each type are those of the International System. Attributes agree with the types that components of other libraries give to the
variables of their connectors, so that a connection between them is one of equal units.</p></html>"));
end Units;
