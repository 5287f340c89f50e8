//! Seconds of every pass of the compiler over the size of generated models, and the slope of a straight line in the logarithms.
//!
//! Each model and size is a process of its own (the program calls itself), so that its peak memory is its own and a size that takes
//! too long can be given up. Seconds are processor time.

use crate::measure::thread_seconds;
use crate::report::{Picture, Section, seconds};
use saltus::Session;
use saltus_model::Model;
use saltus_plot::{PlotOptions, plot_lines};
use saltus_sim::{Control, Options, OutputGrid, Silent, simulate};
use std::fmt::Write as _;
use std::process::Command;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// A size is not tried if the one before took longer than this, in seconds.
const GIVE_UP: f64 = 20.0;
const PASSES: [&str; 5] = ["parse", "flatten", "structure", "code", "first step"];

/// Components shared by the generated models.
const LIBRARY: &str = "
connector Pin Real v; flow Real i; end Pin;
partial model OnePort Pin p; Pin n; Real v; Real i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end OnePort;
model Ground Pin p; equation p.v = 0; end Ground;
model Source extends OnePort; equation v = sin(100*time); end Source;
model Resistor extends OnePort; parameter Real R = 1; equation v = R*i; end Resistor;
model Inductor extends OnePort(i(start = 0, fixed = true)); parameter Real L = 1e-3; equation v = L*der(i); end Inductor;
model Capacitor extends OnePort(v(start = 0, fixed = true)); parameter Real C = 1e-3; equation i = C*der(v); end Capacitor;
model Diode extends OnePort; Real s; Boolean off; parameter Real Ron = 1e-3; parameter Real Goff = 1e-5;
equation off = s < 0; v = s*(if off then 1 else Ron); i = s*(if off then Goff else 1); end Diode;
model Cell Pin a; Pin b; Resistor r; Capacitor c; Ground g; Inductor l;
equation connect(a, r.p); connect(r.n, l.p); connect(l.n, b); connect(b, c.p); connect(c.n, g.p); end Cell;
model Feeder Pin a; parameter Integer m; Resistor line[m](each R = 1e-3); Resistor load[m](R = {100.0 + k for k in 1:m}); Ground g;
equation connect(a, line[1].p); for k in 1:m loop connect(line[k].n, load[k].p); connect(load[k].n, g.p); end for;
for k in 1:m - 1 loop connect(line[k].n, line[k + 1].p); end for; end Feeder;
";

/// Pairs of resistors in a feeder.
const FEEDER_LENGTH: usize = 20;

#[derive(Clone, Copy)]
enum Kind {
    /// Every component written out.
    Rlc,
    Diodes,
    /// One array of components, connected in a loop.
    Array,
    /// An array of components with arrays of resistors: one large linear system and no state.
    Feeders,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Rlc, Kind::Diodes, Kind::Array, Kind::Feeders];

    fn name(self) -> &'static str {
        match self {
            Kind::Rlc => "rlc",
            Kind::Diodes => "diodes",
            Kind::Array => "array",
            Kind::Feeders => "feeders",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::Rlc => "RLC ladder, every component written out",
            Kind::Diodes => "diode ladder, every component written out",
            Kind::Array => "array of cells, connected in a loop",
            Kind::Feeders => "array of feeders with arrays of resistors",
        }
    }

    /// Text of a model with about so many equations.
    fn text(self, equations: usize) -> String {
        let mut text = String::from(LIBRARY);
        // Equations of one stage, connections included.
        let per_stage = match self {
            Kind::Rlc => 18,
            Kind::Diodes => 14,
            Kind::Array => 24,
            Kind::Feeders => 16 * FEEDER_LENGTH,
        };
        let n = equations / per_stage;
        text.push_str("model Generated\n");
        match self {
            Kind::Rlc | Kind::Diodes => {
                text.push_str("  Source source; Ground ground;\n");
                for k in 1..=n {
                    let _ = match self {
                        Kind::Rlc => writeln!(
                            text,
                            "  Resistor r{k}(R = {}); Inductor l{k}; Capacitor c{k};",
                            1.0 + 1.0 / k as f64
                        ),
                        _ => writeln!(text, "  Diode d{k}; Capacitor c{k}(C = 1e-3/{k});"),
                    };
                }
                text.push_str("equation\n  connect(source.n, ground.p);\n");
                let mut before = "source.p".to_owned();
                for k in 1..=n {
                    let _ = match self {
                        Kind::Rlc => writeln!(
                            text,
                            "  connect({before}, r{k}.p); connect(r{k}.n, l{k}.p); connect(l{k}.n, c{k}.p); connect(c{k}.n, ground.p);"
                        ),
                        _ => writeln!(
                            text,
                            "  connect({before}, d{k}.p); connect(d{k}.n, c{k}.p); connect(c{k}.n, ground.p);"
                        ),
                    };
                    before = format!("c{k}.p");
                }
            }
            Kind::Array => {
                let _ = writeln!(
                    text,
                    "  parameter Integer n = {n}; Cell cell[n]; Source source; Ground ground;\nequation\n  connect(source.n, ground.p); connect(source.p, cell[1].a);\n  for k in 1:n-1 loop connect(cell[k].b, cell[k+1].a); end for;"
                );
            }
            Kind::Feeders => {
                let _ = writeln!(
                    text,
                    "  parameter Integer n = {n}; Feeder feeder[n](each m = {FEEDER_LENGTH}); Source source; Ground ground;\nequation\n  connect(source.n, ground.p);\n  for k in 1:n loop connect(source.p, feeder[k].a); end for;"
                );
            }
        }
        text.push_str("end Generated;\n");
        text
    }
}

/// What the process for one size measured.
struct Measured {
    equations: f64,
    passes: [f64; 5],
    /// Peak memory in MB.
    memory: f64,
}

/// The inner process: compiles a model and prints what it measured.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn one(kind: &str, size: usize) {
    let kind = (Kind::ALL.into_iter())
        .find(|k| k.name() == kind)
        .expect("a kind of generated model");
    let text = kind.text(size);
    let mut passes = [0.0; 5];
    let mut clock = thread_seconds();
    let mut lap = || {
        let last = std::mem::replace(&mut clock, thread_seconds());
        clock - last
    };
    let mut sources = saltus_syntax::SourceMap::default();
    let file = sources.add("generated.mo".to_owned(), text.clone());
    drop(saltus_syntax::parse(file, &text));
    passes[0] = lap();
    let mut session = Session::new();
    session.set_text("generated.mo", text);
    lap();
    let flat = session
        .flatten("Generated")
        .unwrap_or_else(|error| panic!("{error}"));
    passes[1] = (lap() - passes[0]).max(0.0);
    let sources = flat.warnings.sources().clone();
    let system = saltus_structure::structure(flat.model)
        .unwrap_or_else(|list| panic!("{} errors, first {:?}", list.len(), list.first()));
    passes[2] = lap();
    let model = saltus_codegen::compile(system, &sources)
        .unwrap_or_else(|list| panic!("{} errors, first {:?}", list.len(), list.first()));
    passes[3] = lap();
    // The step alone: output points are interpolated and evaluated one by one.
    let options = Options {
        stop_time: 1e-9,
        output: OutputGrid::Intervals(1),
        ..Options::default()
    };
    let outcome = simulate(
        &mut model.instantiate(),
        &options,
        &Control::default(),
        &mut Silent,
    );
    if let Err(failure) = outcome {
        panic!("{:?}", failure.error);
    }
    passes[4] = lap();
    let numbers = passes.map(|s| format!("{s:.6}")).join(" ");
    println!(
        "{} {numbers} {:.0}",
        model.info().n_equations,
        peak_memory()
    );
}

/// Peak resident memory of this process in MB; zero where the system does not say.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.trim().split(' ').next()?.parse::<f64>().ok());
    kilobytes.map_or(0.0, |k| k / 1024.0)
}

fn measure(kind: Kind, size: usize) -> Option<Measured> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program)
        .args(["growth-one", kind.name(), &size.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect();
    let &[equations, parse, flatten, structure, code, first, memory] = numbers.as_slice() else {
        eprintln!(
            "{} with {size} equations failed: {}",
            kind.name(),
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        );
        return None;
    };
    Some(Measured {
        equations,
        passes: [parse, flatten, structure, code, first],
        memory,
    })
}

/// Least-squares slope of log y over log x.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (points.iter()).fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (top, bottom) = (points.iter()).fold((0.0, 0.0), |(a, b), (x, y)| {
        (a + (x - mx) * (y - my), b + (x - mx) * (x - mx))
    });
    top / bottom
}

pub(crate) fn growth() -> Section {
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        let mut measured: Vec<Measured> = Vec::new();
        for size in SIZES {
            let last: f64 = measured.last().map_or(0.0, |m| m.passes.iter().sum());
            if last > GIVE_UP {
                break;
            }
            let Some(m) = measure(kind, size) else { break };
            let mut row = vec![kind.title().to_owned(), format!("{:.0}", m.equations)];
            row.extend(m.passes.iter().map(|s| seconds(*s)));
            row.push(seconds(m.passes.iter().sum()));
            row.push(format!("{:.0} MB", m.memory));
            rows.push(row);
            measured.push(m);
        }
        if measured.len() < 2 {
            continue;
        }
        let line = |f: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
            (measured.iter())
                .map(|m| (m.equations.log10(), f(m).max(1e-6).log10()))
                .collect()
        };
        let mut row = vec![format!("{}: slope", kind.title()), String::new()];
        for pass in 0..PASSES.len() {
            row.push(format!("{:.2}", slope(&line(&|m| m.passes[pass]))));
        }
        let total = line(&|m| m.passes.iter().sum());
        row.push(format!("{:.2}", slope(&total)));
        row.push(String::new());
        rows.push(row);
        lines.push((kind.name().to_owned(), total));
    }
    let options = PlotOptions {
        title: Some("Text to running code: log10 of seconds".to_owned()),
        horizontal: "log10 of the number of equations".to_owned(),
        ..PlotOptions::default()
    };
    let mut header = vec!["model", "equations"];
    header.extend(PASSES);
    header.extend(["sum", "peak memory"]);
    Section {
        title: "Growth of the compiler's passes".to_owned(),
        text: format!(
            "Processor time of each pass; the slope is that of a straight line in the logarithms. Sizes after one that took more than {GIVE_UP} s are left out."
        ),
        header,
        rows,
        picture: plot_lines(&lines, &options).ok().map(|svg| Picture {
            name: "growth",
            svg,
        }),
    }
}
