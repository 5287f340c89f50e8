//! Icons and diagrams from annotations: what is drawn, where, and that nothing is missing.

use saltus::Session;

fn drawn(text: &str, class: &str) -> saltus::DiagramView {
    let mut session = Session::new();
    session.set_text("/d/P.mo", text);
    session.diagram(class).expect("the class is there")
}

const BOX: &str = "
  partial model Base
    annotation(Icon(coordinateSystem(extent = {{-200, -100}, {200, 100}}, preserveAspectRatio = false), graphics = {
      Rectangle(extent = {{-200, 100}, {200, -100}}, lineColor = {0, 0, 255})}));
  end Base;
  connector Pin Real v; flow Real i;
    annotation(Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, fillColor = {255, 0, 0}, fillPattern = FillPattern.Solid)}));
  end Pin;
  model Box
    extends Base;
    parameter Real k = 2;
    parameter Boolean useHeat = false;
    parameter Boolean shown = true;
    Pin p annotation(Placement(transformation(extent = {{-220, -20}, {-180, 20}})));
    Pin heat if useHeat annotation(Placement(transformation(extent = {{180, -20}, {220, 20}})));
    annotation(Icon(graphics = {
      Text(extent = {{-100, 50}, {100, -50}}, textString = \"%name: k=%k of %class, 100%%\"),
      Line(points = {{0, 0}, {0, 50}}, color = {1, 2, 3}, visible = not shown),
      Line(points = DynamicSelect({{0, 0}, {10, 0}}, {{0, 0}, {20, 0}}), color = {4, 5, 6})}));
  end Box;";

#[test]
fn icons_are_inherited_placed_and_written_upon() {
    let text = format!(
        "package P {BOX}
  model Two
    Box a(k = 7) annotation(Placement(transformation(extent = {{{{-20, -10}}, {{20, 10}}}}, origin = {{50, 30}})));
    Box b(useHeat = true, shown = false) annotation(Placement(transformation(extent = {{{{20, -10}}, {{-20, 10}}}}, rotation = 90)));
  equation
    connect(a.p, b.p) annotation(Line(points = {{{{28, 30}}, {{0, 30}}, {{0, 22}}}}, color = {{9, 9, 9}}));
  end Two;
end P;"
    );
    let diagram = drawn(&text, "P.Two");
    let svg = &diagram.svg;
    let names: Vec<&str> = diagram.components.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(
        diagram
            .components
            .iter()
            .all(|c| c.has_icon && c.class == "P.Box")
    );
    // The rectangle of the base, at the place of `a`.
    assert!(svg.contains("M30 -40L70 -40L70 -20L30 -20Z"), "{svg}");
    // Mirrored and turned: the corner at the left above comes to the left above again, the next one below it.
    assert!(svg.contains("M-10 -20L-10 20L10 20L10 -20Z"), "{svg}");
    assert!(svg.contains(">a: k=7 of Box, 100%</text>"), "{svg}");
    assert!(svg.contains(">b: k=2 of Box, 100%</text>"), "{svg}");
    // `p` of both, `heat` of the one that has it; the line that is visible in one of them.
    assert_eq!(svg.matches("data-connector=\"p\"").count(), 2);
    assert_eq!(svg.matches("data-connector=\"heat\"").count(), 1);
    assert_eq!(svg.matches("#010203").count(), 1);
    assert_eq!(svg.matches("#040506").count(), 2);
    assert!(
        svg.contains("data-connection=\"a.p, b.p\"") && svg.contains("M28 -30L0 -30L0 -22"),
        "{svg}"
    );
}

#[test]
fn texts_stay_upright_and_pictures_well_formed() {
    let text = "model M
  annotation(Diagram(graphics = {
    Text(extent = {{-50, 10}, {50, -10}}, textString = \"a < b & \\\"c\\\"\", rotation = 180),
    Polygon(points = {{0, 0}, {10, 0}, {10, 10}}, fillPattern = FillPattern.HorizontalCylinder, fillColor = {1, 1, 1}, smooth = Smooth.Bezier),
    Ellipse(extent = {{-10, 10}, {10, -10}}, startAngle = 0, endAngle = 90)}));
end M;";
    let svg = drawn(text, "M").svg;
    assert!(
        !svg.contains("rotate(180") && !svg.contains("rotate(-180"),
        "{svg}"
    );
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"), "{svg}");
    assert!(
        svg.contains("<linearGradient") && svg.contains('Q'),
        "{svg}"
    );
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
}

#[test]
fn a_class_that_is_not_there_has_a_box() {
    let text = "model M Nowhere.Part x annotation(Placement(transformation(extent = {{0, 0}, {10, 10}}))); end M;";
    let diagram = drawn(text, "M");
    assert_eq!(diagram.components[0].class, "Nowhere.Part");
    assert!(!diagram.components[0].has_icon && diagram.svg.contains("stroke-dasharray"));
    assert!(Session::new().diagram("Nowhere").is_none());
}

/// All examples of a package: every component has an icon.
fn missing_icons(session: &Session, package: &str, drawn: &mut usize) -> Vec<String> {
    let mut missing = Vec::new();
    for class in session.classes_in(Some(package)) {
        if class.has_classes {
            missing.extend(missing_icons(session, &class.qualified, drawn));
        }
        if !class.is_model {
            continue;
        }
        let Some(diagram) = session.diagram(&class.qualified) else {
            continue;
        };
        *drawn += usize::from(!diagram.components.is_empty());
        missing.extend(
            (diagram.components.iter())
                .filter(|c| !c.has_icon)
                .map(|c| format!("{}: {} ({})", class.qualified, c.name, c.class)),
        );
    }
    missing
}

#[test]
fn no_icon_of_the_own_library_is_missing() {
    let mut session = Session::new();
    session.add_library_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../library"));
    let mut drawn = 0;
    let missing = missing_icons(&session, "Saltus", &mut drawn);
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(drawn > 0, "there are diagrams");
}

/// With the Modelica Standard Library on MODELICAPATH.
#[test]
#[ignore = "needs the Modelica Standard Library"]
fn no_icon_of_examples_of_the_standard_library_is_missing() {
    let mut session = Session::new();
    session.add_modelicapath();
    let mut drawn = 0;
    let mut missing = Vec::new();
    for package in [
        "Modelica.Blocks.Examples",
        "Modelica.Electrical.Analog.Examples",
        "Modelica.Electrical.Digital.Examples",
        "Modelica.Mechanics.Rotational.Examples",
        "Modelica.Mechanics.Translational.Examples",
        "Modelica.Mechanics.MultiBody.Examples",
        "Modelica.Thermal.HeatTransfer.Examples",
        "Modelica.Fluid.Examples",
        "Modelica.StateGraph.Examples",
    ] {
        missing.extend(missing_icons(&session, package, &mut drawn));
    }
    eprintln!("{drawn} diagrams, {} icons missing", missing.len());
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(drawn >= 60);
}
