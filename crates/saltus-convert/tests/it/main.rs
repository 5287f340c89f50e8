//! Texts in, converted texts out: the examples of the specification (18.8.2.1) and what real texts add to them.

use saltus_convert::{Converted, Rules, Text, Version, convert, plan};
use saltus_syntax::{FileId, parse};

fn converted(script: &str, text: &str) -> (String, Converted) {
    let rules = Rules::read(script).expect("the script can be read");
    let to = Version {
        library: "Old",
        number: "2.0",
    };
    let text = Text {
        name: "user.mo".into(),
        text: text.into(),
    };
    let done = convert(std::slice::from_ref(&text), &rules, &to).expect("the text can be parsed");
    let new = done
        .changed
        .first()
        .map_or(text.text, |(new, _)| new.text.clone());
    (new, done)
}

#[track_caller]
fn check(script: &str, text: &str, expected: &str) {
    let (new, _) = converted(script, text);
    assert_eq!(new, expected);
}

#[test]
fn the_longest_class_counts() {
    check(
        r#"convertClass("Old.SIunits", "Old.Units.SI"); convertClass("Old.SIunits.Icons", "Old.Units.Icons");"#,
        "model M\n  Old.SIunits.Length  l; // kept\n  extends Old.SIunits.Icons.Icon;\nend M;\n",
        "model M\n  Old.Units.SI.Length  l; // kept\n  extends Old.Units.Icons.Icon;\nend M;\n",
    );
}

#[test]
fn imports_keep_the_short_names_of_the_text() {
    check(
        r#"convertClass("Old.SIunits", "Old.Units.SI")"#,
        "model M\n  import SI = Old.SIunits;\n  import Old.SIunits;\n  import Old.SIunits.Mass;\n  SI.Length l;\n  SIunits.Time t;\n  Mass m;\nend M;",
        "model M\n  import SI = Old.Units.SI;\n  import SIunits = Old.Units.SI;\n  import Old.Units.SI.Mass;\n  SI.Length l;\n  SIunits.Time t;\n  Mass m;\nend M;",
    );
}

#[test]
fn a_package_of_the_user_that_stands_for_the_library_leads_into_it() {
    check(
        r#"convertClass("Old.A", "Old.B"); convertClass("Old.A.Special", "Old.C.Special");"#,
        "package P\n  package Short = Old.A;\n  model M\n    Short.Thing a;\n    P.Short.Special b;\n  end M;\nend P;",
        "package P\n  package Short = Old.B;\n  model M\n    Short.Thing a;\n    Old.C.Special b;\n  end M;\nend P;",
    );
}

#[test]
fn names_of_the_user_hide_the_library() {
    let text = "package P\n  package Old\n    model A end A;\n  end Old;\n  Old.A a;\nend P;";
    check(r#"convertClass("Old.A", "Old.B");"#, text, text);
}

#[test]
fn elements_get_their_new_names_in_modifiers_references_and_functions() {
    check(
        r#"convertElement({"Old.World", "Old.World.gravity"}, "mue", "mu");"#,
        "model M\n  Old.World world(mue=2);\n  Old.World many[2](each mue = 3);\n  function f=Old.World.gravity(mue=4);\n  Real x = world.mue + many[1].mue + Old.World.gravity(mue = 1);\nend M;",
        "model M\n  Old.World world(mu=2);\n  Old.World many[2](each mu = 3);\n  function f=Old.World.gravity(mu=4);\n  Real x = world.mu + many[1].mu + Old.World.gravity(mu = 1);\nend M;",
    );
}

/// Classes of the user inherit from the library, and from each other.
#[test]
fn inheritance_among_the_texts_counts() {
    check(
        r#"convertClass("Old.Bad", "Old.Good"); convertElement("Old.Bad.Actual", "bad", "correct");"#,
        "package P\n  model A\n    import Old;\n    extends Old.Bad.Actual;\n  end A;\n  model B\n    extends A(bad = 1);\n    Real b = bad;\n    A inner_a(bad = 2);\n    Real c = inner_a.bad;\n  end B;\nend P;",
        "package P\n  model A\n    import Old;\n    extends Old.Good.Actual;\n  end A;\n  model B\n    extends A(correct = 1);\n    Real b = correct;\n    A inner_a(correct = 2);\n    Real c = inner_a.correct;\n  end B;\nend P;",
    );
}

#[test]
fn modifiers_are_replaced_removed_and_added() {
    let script = r#"
        convertModifiers("Old.Dep", {"y0=0", "k1=0", "k2=0"}, {"y0=%y0%", "k1=%y0%*%k1%", "k2=%y0%*%k2%"}, true);
        convertModifiers({"Old.Joint"}, {"offset"}, fill("", 0), true);
        convertClass("Old.Isolated", "Old.Pipe");
        convertModifiers({"Old.Isolated"}, fill("", 0), {"useHeatPort=false"});
        convertModifiers("Old.Value", {"hide"}, {"use=not %hide%"});
    "#;
    check(
        script,
        "model M\n  Old.Dep d(y0 = 2, k2 = 1 + 2);\n  Old.Joint j(a = 1, offset = 3 \"text\", b = 2);\n  Old.Joint k(offset = 3);\n  Old.Isolated p, q[3](r = 1);\n  Old.Value v(hide = true);\nend M;",
        "model M\n  Old.Dep d(y0=2, k1=2*0, k2=2*(1 + 2));\n  Old.Joint j(a = 1, b = 2);\n  Old.Joint k;\n  Old.Pipe p(useHeatPort=false), q[3](r = 1, useHeatPort=false);\n  Old.Value v(use=not true);\nend M;",
    );
}

#[test]
fn a_modifier_chooses_the_class() {
    check(
        r#"convertClassIf("Old.Lamp", "color", "Colors.red", "Old.RedLamp");"#,
        "model M\n  Old.Lamp a(color = Colors.red, size = 2);\n  Old.Lamp b(color = Colors.blue);\nend M;",
        "model M\n  Old.RedLamp a(size = 2);\n  Old.Lamp b(color = Colors.blue);\nend M;",
    );
}

#[test]
fn what_cannot_be_converted_is_told_with_its_place() {
    let (text, done) = converted(
        r#"convertMessage("Old.Gone", "there is no other"); convertMessage("Old.Part", "set it by hand", "knob");"#,
        "model M\n  Old.Gone g;\n  Old.Part p(knob = 1);\n  Real x = p.knob;\nend M;",
    );
    assert_eq!(text.lines().count(), 5);
    let notes: Vec<(u32, u32, &str)> = done
        .notes
        .iter()
        .map(|n| (n.line, n.column, n.text.as_str()))
        .collect();
    assert_eq!(
        notes,
        [
            (2, 3, "`Old.Gone`: there is no other"),
            (3, 14, "`knob` of `Old.Part`: set it by hand"),
            (4, 14, "`knob` of `Old.Part`: set it by hand"),
        ]
    );
}

#[test]
fn versions_and_addresses_follow() {
    check(
        r#"convertClass("Old.A", "Old.B");"#,
        "model M\n  annotation(uses(Old(version=\"1.0\")), Documentation(info=\"<a href=\\\"modelica://Old.A.Part\\\">Old.A</a> modelica://Old/A.png\"));\nend M;",
        "model M\n  annotation(uses(Old(version=\"2.0\")), Documentation(info=\"<a href=\\\"modelica://Old.B.Part\\\">Old.A</a> modelica://Old/A.png\"));\nend M;",
    );
}

#[test]
fn redeclarations_and_constrained_elements_are_converted() {
    check(
        r#"convertClass("Old.A", "Old.B"); convertElement("Old.A.Medium", "T0", "T_start");"#,
        "model M\n  replaceable package Medium = Old.A.Medium(T0 = 3) constrainedby Old.A.Partial;\n  P p(redeclare package Medium = Old.A.Medium(T0 = 1), redeclare Old.A.Pump pump);\n  model P\n    replaceable package Medium = Old.A.Partial;\n    replaceable Old.A.Part pump;\n  end P;\nend M;",
        "model M\n  replaceable package Medium = Old.B.Medium(T_start = 3) constrainedby Old.B.Partial;\n  P p(redeclare package Medium = Old.B.Medium(T_start = 1), redeclare Old.B.Pump pump);\n  model P\n    replaceable package Medium = Old.B.Partial;\n    replaceable Old.B.Part pump;\n  end P;\nend M;",
    );
}

/// A script without semicolons, with comments and calls that say nothing.
#[test]
fn scripts_are_read_as_they_are_written() {
    check(
        "convertClear()\n// a comment (with a parenthesis\nconvertClass({\"Old.A\", \"Old.B\"}, {\"Old.C\", \"Old.D\"})\n/* and another ) */ convertElement(\"Old.E\", {\"ri\", \"ro\"}, {\"R\", \"r\"})",
        "model M\n  Old.A a;\n  Old.B b;\n  Old.E e(ri = 1, ro = 2);\nend M;",
        "model M\n  Old.C a;\n  Old.D b;\n  Old.E e(R = 1, r = 2);\nend M;",
    );
    assert!(Rules::read("convertClass(1, 2);").is_err());
    assert!(Rules::read("").expect("an empty script").is_empty());
}

#[test]
fn the_way_between_versions_may_have_steps() {
    let text = r#"package Old annotation(version = "4.1.0", conversion(noneFromVersion = "4.0.0",
      from(version = {"3.0", "3.2.3"}, to = "4.0.0", script = "modelica://Old/3to4.mos"),
      from(version = "2.2", to = "3.0", script = "modelica://Old/2to3.mos"))); end Old;"#;
    let parsed = parse(FileId(0), text);
    let library = &parsed.definition.classes[0];
    let scripts = |from: &str| {
        plan(library, from).map(|p| p.steps.into_iter().map(|s| s.script).collect::<Vec<_>>())
    };
    assert_eq!(scripts("4.1.0"), Ok(vec![]));
    assert_eq!(scripts("4.0.0"), Ok(vec![]));
    assert_eq!(
        scripts("3.2.3+build.4"),
        Ok(vec!["modelica://Old/3to4.mos".to_owned()])
    );
    assert_eq!(
        scripts("2.2"),
        Ok(vec![
            "modelica://Old/2to3.mos".to_owned(),
            "modelica://Old/3to4.mos".to_owned()
        ])
    );
    assert_eq!(
        scripts("1.0"),
        Err(["4.0.0", "3.0", "3.2.3", "2.2"].map(str::to_owned).to_vec())
    );
}
