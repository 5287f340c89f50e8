within Saltus.Mechanics;
package Interfaces "Flanges, shafts, and what components with two of them have in common"
  connector Flange_a "Flange of a body that moves along a line"
    Units.Position s "Absolute position";
    flow Units.Force f "Force into the component";
    annotation(
      Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 100, 0}, fillColor = {0, 130, 0}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Left flange by convention. Same variables as the translational flanges of the Modelica Standard Library.</p></html>"));
  end Flange_a;

  connector Flange_b "Flange of a body that moves along a line"
    Units.Position s "Absolute position";
    flow Units.Force f "Force into the component";
    annotation(
      Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 100, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Right flange by convention; equal to <code>Flange_a</code> but for its picture.</p></html>"));
  end Flange_b;

  connector Shaft_a "Shaft of a body that turns around an axis"
    Units.Angle phi "Absolute angle";
    flow Units.Torque tau "Torque into the component";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {95, 95, 95}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Left shaft by convention. Same variables as the rotational flanges of the Modelica Standard Library.</p></html>"));
  end Shaft_a;

  connector Shaft_b "Shaft of a body that turns around an axis"
    Units.Angle phi "Absolute angle";
    flow Units.Torque tau "Torque into the component";
    annotation(
      Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
      Documentation(info = "<html><p>Right shaft by convention; equal to <code>Shaft_a</code> but for its picture.</p></html>"));
  end Shaft_b;

  partial model TwoFlanges "A force between two flanges"
    Flange_a flange_a "Left flange" annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
    Flange_b flange_b "Right flange" annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
    Units.Position s_rel "Position of flange_b relative to flange_a";
    Units.Force f "Into flange_b, out of flange_a: positive where it pulls the flanges together";
  equation
    s_rel = flange_b.s - flange_a.s;
    flange_b.f = f;
    flange_a.f = -f;
    annotation(
      Icon(graphics = {Line(points = {{-90, 0}, {90, 0}}, color = {0, 130, 0})}),
      Documentation(info = "<html><p>Has no mass: the forces of both flanges are opposite.</p></html>"));
  end TwoFlanges;

  partial model Friction "What the formulations of dry friction have in common"
    extends TwoFlanges;
    parameter Units.Force Fd(min = 0) "Sliding friction";
    parameter Units.Force Fs(min = 0) = Fd "Largest force at which the flanges stick";
    parameter Units.DampingConstant d = 0 "Viscous friction";
    parameter Units.Velocity v_small(min = 0) = 1e-9 "An impact leaves more than this: what sticks then slides, and what slides may turn back without a stop" annotation(Dialog(tab = "Advanced"));
    Units.Velocity v "Velocity of flange_b relative to flange_a";
  equation
    v = der(s_rel);
    assert(Fs >= Fd, "the sticking friction Fs must be at least the sliding friction Fd");
    annotation(
      Icon(graphics = {
        Rectangle(extent = {{-60, 30}, {60, 0}}, lineColor = {0, 0, 0}, fillColor = {215, 235, 255}, fillPattern = FillPattern.Solid),
        Line(points = {{-80, -2}, {80, -2}}),
        Line(points = {{-80, -12}, {-70, -2}}), Line(points = {{-40, -12}, {-30, -2}}), Line(points = {{0, -12}, {10, -2}}), Line(points = {{40, -12}, {50, -2}}),
        Text(extent = {{-100, 80}, {100, 50}}, textString = "%name")}),
      Documentation(info = "<html><p>While the flanges slide, <code>f = Fd sign(v) + d v</code>; while they stick, <code>v = 0</code> and <code>|f| &le; Fs</code> (textbook, Fig. 9.20).</p></html>"));
  end Friction;

  partial model Plates "Friction of plates that are pressed together"
    parameter Units.Torque tauMax(min = 0) "Sliding torque at full pressure";
    parameter Real peak(unit = "1", min = 1) = 1 "Largest torque at which the plates stick, by the sliding one";
    Blocks.Interfaces.RealInput pressure(unit = "1") "0 open, 1 full" annotation(Placement(transformation(extent = {{-20, 80}, {20, 120}})));
    Units.AngularVelocity w "Relative angular velocity";
    Units.Torque tau "Of friction, against w";
    Integer mode(start = 0, min = -1, max = 2) "1 slides forward, -1 slides backward, 0 sticks, 2 open";
  protected
    Units.Torque limit = tauMax*pressure "Sliding torque";
  initial equation
    pre(mode) = if pressure <= 0 then 2 elseif w > 0 then 1 elseif w < 0 then -1 else 0;
  equation
    mode = if pressure <= 0 then 2
      elseif pre(mode) == 2 then (if w > 0 then 1 elseif w < 0 then -1 else 0)
      elseif pre(mode) == 1 then (if w < 0 then 0 else 1)
      elseif pre(mode) == -1 then (if w > 0 then 0 else -1)
      elseif tau > peak*limit then 1 elseif tau < -peak*limit then -1 else 0;
    0 = if mode == 0 then w elseif mode == 1 then tau - limit elseif mode == -1 then tau + limit else tau;
    annotation(
      Icon(graphics = {
        Rectangle(extent = {{-30, 50}, {-10, -50}}, lineColor = {0, 0, 0}, fillColor = {192, 192, 192}, fillPattern = FillPattern.Solid),
        Line(points = {{0, 80}, {0, 60}}, color = {0, 0, 127}),
        Text(extent = {{-100, -60}, {100, -90}}, textString = "%name")}),
      Documentation(info = "<html><p>Dry friction whose limit is proportional to a pressure; while the plates stick, <code>w = 0</code> is a constraint. Without pressure there is no torque.</p></html>"));
  end Plates;

  annotation(
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-60, 30}, {0, -30}}, lineColor = {0, 100, 0}, fillColor = {0, 130, 0}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{0, 30}, {60, -30}}, lineColor = {0, 100, 0}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>The partial models have two flanges and leave the law to what extends them.</p></html>"));
end Interfaces;
