//! The library `library/Saltus`: its examples against closed forms, and what every public class of it has.
//!
//! An example is compared with `tests/library/<Package>.<Example>.toml`, in the form of `expect.toml` (see `models`). The reference
//! `docs/library.md` is written from the library by `SALTUS_BLESS=1 cargo test -p saltus reference`.

use crate::mdtest::root;
use crate::models::check_class;
use saltus::Session;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

macro_rules! examples {
    ($($name:ident: $package:ident . $example:ident $(as $expect:ident)?),* $(,)?) => {
        $(#[test]
        fn $name() {
            let expect = concat!($(stringify!($expect), "|",)? stringify!($example));
            check(stringify!($package), stringify!($example), expect);
        })*

        const EXAMPLES: &[&str] = &[$(concat!(stringify!($package), ".", stringify!($example))),*];
    };
}

examples! {
    three_masses: Impact.ThreeMasses,
    damped_oscillator: Mechanics.DampedOscillator,
    one_mass: Mechanics.OneMass,
    one_mass_dfsm: Mechanics.OneMassDFSM as OneMass,
    one_mass_curve: Mechanics.OneMassCurve as OneMass,
    one_mass_net: Mechanics.OneMassNet as OneMass,
    stick_slip: Mechanics.StickSlip,
    stick_slip_dfsm: Mechanics.StickSlipDFSM as StickSlip,
    stick_slip_curve: Mechanics.StickSlipCurve as StickSlip,
    stick_slip_net: Mechanics.StickSlipNet as StickSlip,
    clutch_engages: Mechanics.ClutchEngages,
    brake_holds: Mechanics.BrakeHolds,
    bouncing_mass: Mechanics.BouncingMass,
    bouncing_mass_rests: Mechanics.BouncingMass as BouncingMassRests,
    plastic_stop: Mechanics.PlasticStop,
    loose_lever: Mechanics.LooseLever,
    play_in_coupling: Mechanics.PlayInCoupling,
    charged_capacitor: Electrical.ChargedCapacitor,
    current_pulse: Electrical.CurrentPulse,
    switched_inductor: Electrical.SwitchedInductor,
    free_wheeling: Electrical.FreeWheeling,
    rectifier: Electrical.Rectifier,
    leaky_rectifier: Electrical.LeakyRectifier,
    phase_control: Electrical.PhaseControl,
    two_pulse_converter: Electrical.TwoPulseConverter,
    dimmer: Electrical.Dimmer,
    triac_inductance: Electrical.TriacInductance,
    stabiliser: Electrical.Stabiliser,
    tunnel_sweep: Electrical.TunnelSweep,
    arc_resistive: Electrical.ArcResistive,
    arc_inductive: Electrical.ArcInductive,
    hysteresis_and_limiter: Blocks.HysteresisAndLimiter,
    quantiser: Blocks.Quantiser,
    either_side: Blocks.EitherSide,
    multi_rate: Blocks.MultiRate,
    positioning: Blocks.Positioning,
    speed_control: Blocks.SpeedControl,
    random_numbers: Blocks.RandomNumbers,
    hysteresis_net: PetriNets.HysteresisNet,
    limiter_net: PetriNets.LimiterNet,
    serial_and: PetriNets.SerialAnd,
    parallel_or: PetriNets.ParallelOr,
    fork_and_join: PetriNets.ForkAndJoin,
    priorities: PetriNets.Priorities,
}

/// `expect` is the example, or another one that it has the solution of and itself, separated by `|`.
fn check(package: &str, example: &str, expect: &str) {
    let expect = expect.split('|').next().unwrap_or(expect);
    let file = root().join(format!(
        "crates/saltus/tests/library/{package}.{expect}.toml"
    ));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
    let class = format!("Saltus.{package}.Examples.{example}");
    check_class(&mut session(), &class, &text, |_, _| {});
}

fn session() -> Session {
    let mut session = Session::new();
    session.add_library_path(root().join("library"));
    session
}

/// Where the friction that holds is no larger than the one that slides, all formulations have one solution.
#[test]
fn formulations_of_friction_agree_where_sticking_is_sliding() {
    const TIMES: [f64; 8] = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 14.0, 20.0];
    for (example, variables) in [
        ("OneMass", &["mass.s", "mass.v"][..]),
        ("StickSlip", &["mass1.s", "mass1.v", "mass2.s", "mass2.v"]),
    ] {
        let solutions = ["", "DFSM", "Curve", "Net"].map(|form| {
            let class = format!("Saltus.Mechanics.Examples.{example}{form}");
            let compiled = session().compile(&class).unwrap_or_else(|e| panic!("{e}"));
            let run = compiled
                .experiment()
                .set("friction.Fs", 8.0)
                .stop_time(20.0)
                .intervals(200)
                .simulate()
                .unwrap_or_else(|e| panic!("{class}: {e}"));
            let at = |name: &&str| TIMES.map(|time| run.at(name, time).unwrap());
            variables.iter().map(at).collect::<Vec<_>>()
        });
        for other in &solutions[1..] {
            let pairs = solutions[0].iter().flatten().zip(other.iter().flatten());
            for (a, b) in pairs {
                assert!((a - b).abs() < 1e-6, "{example}: {solutions:?}");
            }
        }
        if example == "OneMass" {
            // Slides back from 16/3 s on: 5 v' = 8 - 1.5 t.
            let v = |t: f64| -0.15 * (t - 16.0 / 3.0).powi(2);
            for (k, t) in TIMES
                .iter()
                .enumerate()
                .filter(|(_, t)| (6.0..=10.0).contains(*t))
            {
                assert!((solutions[0][1][k] - v(*t)).abs() < 1e-8, "{solutions:?}");
            }
        }
    }
}

/// Components of a library with connectors of its own, which have the variables and units of those of the Modelica Standard Library.
const FOREIGN: &str = r#"
package Foreign
  type Voltage = Real(final quantity = "ElectricPotential", final unit = "V");
  type Current = Real(final quantity = "ElectricCurrent", final unit = "A");
  type Position = Real(final quantity = "Length", final unit = "m");
  type Force = Real(final quantity = "Force", final unit = "N");
  type Angle = Real(final quantity = "Angle", final unit = "rad", displayUnit = "deg");
  type Torque = Real(final quantity = "Torque", final unit = "N.m");
  connector Pin Voltage v; flow Current i; end Pin;
  connector Flange Position s; flow Force f; end Flange;
  connector Shaft Angle phi; flow Torque tau; end Shaft;
  connector RealOutput = output Real;
  model Capacitor Pin p, n; Voltage v(start = 0, fixed = true) = p.v - n.v; equation p.i = 1e-3*der(v); p.i + n.i = 0; end Capacitor;
  model Mass Flange flange; Real v(start = 2, fixed = true); equation v = der(flange.s); 4*der(v) = flange.f; end Mass;
  model Wheel Shaft shaft; Real w(start = 3, fixed = true); equation w = der(shaft.phi); 2*der(w) = shaft.tau; end Wheel;
  model Constant RealOutput y; equation y = 1; end Constant;
end Foreign;
model Mixed
  Saltus.Electrical.ConstantVoltage source(V = 10);
  Saltus.Electrical.Resistor resistor(R = 1000);
  Saltus.Electrical.Ground ground;
  Foreign.Capacitor capacitor;
  Saltus.Mechanics.Fixed fixed;
  Saltus.Mechanics.FrictionConstraint friction(Fd = 4);
  Foreign.Mass mass(flange(s(start = 0, fixed = true)));
  Saltus.Mechanics.Brake brake(tauMax = 2);
  Foreign.Wheel wheel(shaft(phi(start = 0, fixed = true)));
  Foreign.Constant pressed;
equation
  connect(source.p, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  connect(fixed.flange, friction.flange_a);
  connect(friction.flange_b, mass.flange);
  connect(brake.shaft_a, wheel.shaft);
  connect(brake.pressure, pressed.y);
end Mixed;
"#;

#[test]
fn connectors_fit_those_of_other_libraries() {
    let mut session = session();
    session.set_text("mixed.mo", FOREIGN);
    // 10 (1 - exp(-t)); 2 - t until 2 s; 3 - t until 3 s.
    let expect = "stop_time = 4\ntolerance = 1e-9\nvalue_tolerance = 1e-8\nevent_tolerance = 1e-8\nevent_times = [2, 3]\n\
        [values]\ncapacitor.v = [[1, 6.321205588285577]]\nmass.v = [[1, 1], [4, 0]]\nwheel.w = [[1, 2], [4, 0]]\n";
    check_class(&mut session, "Mixed", expect, |_, _| {});
}

/// A class of the library as its text has it.
struct Class {
    /// Below `Saltus`, with dots.
    name: String,
    keyword: String,
    description: String,
    /// From its first line to its `end`.
    text: String,
}

impl Class {
    fn is_partial(&self) -> bool {
        self.text.trim_start().starts_with("partial")
    }

    /// The package right below `Saltus`, and the rest.
    fn place(&self) -> (&str, &str) {
        self.name.split_once('.').unwrap_or((&self.name, ""))
    }

    fn is_example(&self) -> bool {
        self.name.contains(".Examples.")
    }

    /// A component that a user takes from the library and needs to see in an example.
    fn needs_example(&self) -> bool {
        matches!(self.keyword.as_str(), "model" | "block" | "function")
            && !self.is_example()
            && !self.is_partial()
    }

    fn last_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    /// The text uses the name as a whole word.
    fn uses(&self, word: &str) -> bool {
        let words = (self.text).split(|c: char| !c.is_alphanumeric() && c != '_');
        words.into_iter().any(|w| w == word)
    }
}

/// The public classes of the library, package by package in the order of `package.order`.
fn classes() -> Vec<Class> {
    let mut classes = Vec::new();
    let library = root().join("library/Saltus");
    read_folder(&library, "", &mut classes);
    classes.retain(|class| class.name != "Saltus");
    classes
}

/// The package of a folder, with its qualified name, and what is in it.
fn read_folder(folder: &Path, package: &str, classes: &mut Vec<Class>) {
    let outer = package.rsplit_once('.').map_or("", |(outer, _)| outer);
    let read = |file: PathBuf| {
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    let order = read(folder.join("package.order"));
    let names: Vec<&str> = order.lines().collect();
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of the library exists")
        .map(|entry| entry.expect("the folder can be read").file_name())
        .map(|name| name.to_string_lossy().trim_end_matches(".mo").to_owned())
        .filter(|name| name != "package" && name != "package.order")
        .collect();
    files.retain(|file| !names.contains(&file.as_str()));
    assert!(
        files.is_empty(),
        "{}: not in package.order: {files:?}",
        folder.display()
    );
    read_classes(&read(folder.join("package.mo")), outer, classes);
    for name in names {
        let path = folder.join(name);
        if path.is_dir() {
            read_folder(&path, &within(package, name), classes);
        } else if path.with_extension("mo").is_file() {
            read_classes(&read(path.with_extension("mo")), package, classes);
        }
    }
}

/// The qualified name of what is in a package; directly below `Saltus` the package has no name here.
fn within(package: &str, name: &str) -> String {
    if package.is_empty() {
        name.to_owned()
    } else {
        format!("{package}.{name}")
    }
}

/// Classes of a file, those inside packages included. A class begins on a line of its own with its keyword; it ends at the line `end Name;` with the same indentation, a short one
/// at a line that ends with a semicolon.
fn read_classes(text: &str, package: &str, classes: &mut Vec<Class>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut open: Vec<String> = Vec::new();
    let mut closes: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(end) = &closes {
            if line == end {
                closes = None;
            }
            continue;
        }
        if let Some(name) = open.last()
            && line.trim() == format!("end {name};")
        {
            open.pop();
            continue;
        }
        let mut words = line.split_whitespace().peekable();
        words.next_if_eq(&"partial");
        let Some(keyword) = words.next_if(|word| {
            ["model", "block", "connector", "function", "package", "type"].contains(word)
        }) else {
            continue;
        };
        let name = words.next().unwrap_or_default().to_owned();
        let is_short = words.next_if_eq(&"=").is_some();
        let ends = |l: &str| {
            let inner = l.len() - l.trim_start().len();
            match is_short {
                true => l.ends_with(';'),
                false => inner == indent && l.trim() == format!("end {name};"),
            }
        };
        let last = lines[at..].iter().position(|l| ends(l));
        let last = at + last.unwrap_or_else(|| panic!("{name} has no end"));
        let outer = (open.iter()).fold(package.to_owned(), |outer, name| within(&outer, name));
        classes.push(Class {
            description: line.split('"').nth(1).unwrap_or_default().to_owned(),
            name: within(&outer, &name),
            keyword: keyword.to_owned(),
            text: lines[at..=last].join("\n"),
        });
        if keyword == "package" && !is_short {
            open.push(name);
        } else if !is_short {
            closes = Some(lines[last].to_owned());
        }
    }
}

#[test]
fn every_public_class_is_documented_and_has_an_example_that_is_tested() {
    let classes = classes();
    let extended = extended_in_models();
    let mut problem = String::new();
    for class in &classes {
        let name = &class.name;
        let mut complain = |what: &str| {
            let _ = writeln!(problem, "{name}: {what}");
        };
        if class.description.is_empty() {
            complain("no description");
        }
        let is_plain = class.keyword == "type";
        if !is_plain && !class.text.contains("Documentation(info") {
            complain("no Documentation annotation");
        }
        let has_picture = class.text.contains("Icon(") || class.text.contains("extends ");
        if !is_plain && class.keyword != "function" && !has_picture {
            complain("no Icon annotation");
        }
        if class.is_example() && !class.text.contains("experiment(") {
            complain("no experiment annotation");
        }
        let tested = name.replacen(".Examples.", ".", 1);
        let is_tested = || EXAMPLES.contains(&tested.as_str()) || extended.contains(name);
        if class.is_example() && !is_tested() {
            complain("the example is not tested");
        }
        if class.needs_example() && example_of(class, &classes).is_none() {
            complain("no example uses it");
        }
    }
    assert!(problem.is_empty(), "{problem}");
}

/// Examples that the models of `models/` extend and check, below `Saltus`.
fn extended_in_models() -> BTreeSet<String> {
    let folders = std::fs::read_dir(root().join("models")).expect("the folder exists");
    let texts = folders
        .map(|entry| {
            entry
                .expect("the folder can be read")
                .path()
                .join("model.mo")
        })
        .filter_map(|file| std::fs::read_to_string(file).ok());
    texts
        .flat_map(|text| {
            let names = text.split("extends Saltus.").skip(1);
            let names = names.filter_map(|rest| rest.split([';', '(']).next());
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// The example in which a class is seen: of its own package first.
fn example_of<'a>(class: &Class, classes: &'a [Class]) -> Option<&'a Class> {
    let package = class.place().0;
    let examples = || classes.iter().filter(|example| example.is_example());
    let uses = |example: &&Class| example.uses(class.last_name());
    let own = examples().filter(|example| example.place().0 == package);
    let mut found = own.chain(examples()).filter(uses);
    found.next()
}

/// `docs/library.md`.
fn reference() -> String {
    let classes = classes();
    let mut text = String::from(
        "# The library `Saltus`\n\nWritten from `library/Saltus` by `SALTUS_BLESS=1 cargo test -p saltus reference`; do not edit. The library needs no other one; its connectors fit those of\nthe Modelica Standard Library. Run an example with its full name:\n\n```sh\nsaltus simulate Saltus.Mechanics.Examples.OneMass --library library --plot mass.v=v.svg\n```\n\nAll examples: `saltus test library/Saltus`. Each is compared with a closed form or an independent solution in `cargo test -p saltus library`.\n",
    );
    for package in classes.iter().filter(|class| !class.name.contains('.')) {
        let name = &package.name;
        let members = || {
            classes
                .iter()
                .filter(|class| class.place().0 == name && !class.place().1.is_empty())
        };
        let _ = write!(text, "\n## {name}\n\n{}.\n", package.description);
        let components: Vec<&Class> = members().filter(|class| class.needs_example()).collect();
        if !components.is_empty() {
            text.push_str("\n| class | what | example |\n|---|---|---|\n");
        }
        for class in components {
            let example = example_of(class, &classes).map(|example| format!("`{}`", example.name));
            let (name, what) = (class.place().1, &class.description);
            let _ = writeln!(
                text,
                "| `{name}` | {what} | {} |",
                example.unwrap_or_default()
            );
        }
        let examples: Vec<&Class> = members().filter(|class| class.is_example()).collect();
        if !examples.is_empty() {
            let _ = write!(
                text,
                "\n| example | `saltus simulate Saltus.{name}.Examples.…` |\n|---|---|\n"
            );
        }
        for example in examples {
            let _ = writeln!(
                text,
                "| `{}` | {} |",
                example.last_name(),
                example.description
            );
        }
        let others: Vec<&Class> = members()
            .filter(|class| {
                !class.needs_example() && !class.is_example() && class.keyword != "package"
            })
            .collect();
        if !others.is_empty() {
            text.push_str("\n| connector, partial class or type | what |\n|---|---|\n");
        }
        for class in others {
            let _ = writeln!(text, "| `{}` | {} |", class.place().1, class.description);
        }
    }
    text
}

#[test]
fn the_reference_is_that_of_the_library() {
    let file = root().join("docs/library.md");
    let text = reference();
    if std::env::var_os("SALTUS_BLESS").is_some() {
        std::fs::write(&file, &text).expect("the reference can be written");
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stored == text,
        "docs/library.md is not that of the library: SALTUS_BLESS=1 writes it"
    );
}
