//! `docs/gallery`: models of the repository with picture, numbers, text and the command that runs them.
//!
//! Comes in: [`ENTRIES`]. Goes out: `README.md` with all entries and a picture for each. The tests make the gallery anew in memory and compare it with the one in the
//! repository, so that it shows what the program does now.

use saltus::plot::{PlotError, PlotOptions, plot_over_time, plot_phase};
use saltus::results::{EventKind, EventRecord};
use saltus::{Run, Session};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where it is written
    #[arg(long, default_value = "docs/gallery")]
    output: PathBuf,
}

/// What a picture shows.
enum Picture {
    Time(&'static [&'static str]),
    /// Some variables over another one.
    Phase(&'static str, &'static [&'static str]),
}

struct Entry {
    /// Folder in `models`.
    folder: &'static str,
    /// What to see.
    shows: &'static str,
    stop_time: f64,
    picture: Picture,
}

use Picture::{Phase, Time};

const fn entry(
    folder: &'static str,
    stop_time: f64,
    picture: Picture,
    shows: &'static str,
) -> Entry {
    Entry {
        folder,
        shows,
        stop_time,
        picture,
    }
}

/// By subject.
const ENTRIES: &[(&str, &[Entry])] = &[
    (
        "Impacts and rest",
        &[
            entry(
                "restitution-ball-rests",
                8.0,
                Time(&["x"]),
                "Infinitely many bounces end at 5.57 s; the ball then rests. No guard, no threshold.",
            ),
            entry(
                "ball-on-table",
                3.0,
                Time(&["x", "s"]),
                "The table sinks ever faster; the ball comes to rest on it (and is left behind at 9.81 s, when the table falls faster than it).",
            ),
            entry(
                "three-masses-sequence",
                2.0,
                Time(&["v[1]", "v[2]", "v[3]"]),
                "Impacts with restitution 0.6, one after the other; momentum is kept to round-off.",
            ),
            entry(
                "cradle",
                2.0,
                Time(&["x[1]", "x[2]", "x[3]", "x[4]", "x[5]"]),
                "Five balls in contact: the last one takes the speed of the first.",
            ),
            entry(
                "soft-collision",
                1.0,
                Time(&["v1", "v2", "w1", "w2"]),
                "A stiff spring beside the rigid impact that it comes near.",
            ),
            entry(
                "plate-pendulum",
                0.8,
                Time(&["v", "w"]),
                "A pendulum against a plate with friction and a stop.",
            ),
        ],
    ),
    (
        "Strings",
        &[
            entry(
                "filament-pendulum",
                10.0,
                Phase("x", &["y"]),
                "Two states while the filament is taut, four in free flight.",
            ),
            entry(
                "string-pendulum",
                3.0,
                Phase("x", &["y"]),
                "Free fall, then the string is taut and takes an impulse.",
            ),
            entry(
                "cup-and-ball",
                2.0,
                Phase("x", &["y"]),
                "One parameter of the curve decides between slack and taut.",
            ),
        ],
    ),
    (
        "Ideal switches",
        &[
            entry(
                "rectifier-inductance",
                0.09,
                Time(&["u2", "i0"]),
                "The current is a state only while the diode conducts.",
            ),
            entry(
                "bridge-six-pulse",
                0.04,
                Time(&["ud"]),
                "Overlap of the diodes behind source inductances; no resistance, no leakage.",
            ),
            entry(
                "twelve-pulse-ideal",
                0.04,
                Time(&["u"]),
                "Twelve diodes with Ron = Goff = 0.",
            ),
            entry("thyristor-load", 0.1, Time(&["i"]), "Fired at 30 degrees."),
            entry(
                "capacitors-connected",
                3.0,
                Time(&["u1", "u2"]),
                "Charge is kept, energy is not.",
            ),
            entry(
                "freewheeling-diode",
                2.0,
                Time(&["i", "iD"]),
                "The diode takes the current over in no time.",
            ),
            entry(
                "clutch-locks",
                3.0,
                Time(&["w1", "w2"]),
                "Momentum is kept when the clutch locks.",
            ),
            entry(
                "valve-closes",
                8.0,
                Time(&["h", "q"]),
                "A differential equation becomes an algebraic one, and back.",
            ),
        ],
    ),
    (
        "Friction and sliding",
        &[
            entry(
                "friction-velocity",
                20.0,
                Time(&["x", "v"]),
                "Dry friction as a constraint on the speed: it sticks at exactly zero.",
            ),
            entry(
                "friction-two-masses",
                60.0,
                Time(&["x1", "x2"]),
                "Stick and slip.",
            ),
            entry(
                "friction-curve-sticks",
                20.0,
                Time(&["v"]),
                "The same from a curve, with one parameter.",
            ),
            entry(
                "sliding-relay-leaves",
                20.0,
                Time(&["x"]),
                "Slides while the drive is weaker than the relay.",
            ),
            entry(
                "sliding-line",
                6.0,
                Phase("x1", &["x2"]),
                "A relay on a double integrator: along the line to the origin.",
            ),
            entry(
                "vehicle-glides",
                3.0,
                Time(&["along", "speed"]),
                "Flies against a sloped wall and glides up.",
            ),
        ],
    ),
    (
        "Loops, delays, control",
        &[
            entry(
                "multivibrator",
                4.5,
                Time(&["y", "v"]),
                "The solution of an algebraic loop ends, and another is taken.",
            ),
            entry(
                "cubic-hysteresis",
                6.5,
                Time(&["y"]),
                "A smooth fold, up and down.",
            ),
            entry(
                "delay-reflections",
                1.0,
                Time(&["v", "w"]),
                "Every reflection is an event.",
            ),
            entry(
                "sampled-controller",
                3.25,
                Time(&["x", "u"]),
                "A digital controller.",
            ),
            entry(
                "pulse-modulator",
                0.002,
                Time(&["y"]),
                "Ten thousand periods a second: fast switching that is no sliding.",
            ),
            entry(
                "automaton-thermostat",
                20.0,
                Time(&["T"]),
                "A hybrid automaton.",
            ),
            entry(
                "rotor-stator",
                5.0,
                Time(&["Xr", "Xs"]),
                "A rotor that rubs in its stator.",
            ),
        ],
    ),
];

/// Event times that are listed.
const TIMES_SHOWN: usize = 6;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let gallery = make()?;
    let write = |name: &str, text: &str| {
        let path = options.output.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(&options.output).map_err(|e| e.to_string())?;
    write("README.md", &gallery.page)?;
    for (name, svg) in &gallery.pictures {
        write(name, svg)?;
    }
    Ok(())
}

struct Gallery {
    page: String,
    /// Name and SVG.
    pictures: Vec<(String, String)>,
}

fn make() -> Result<Gallery, String> {
    let mut page = "# Gallery\n\nMade by `cargo xtask gallery`: each model is run, drawn and counted. Run the commands in the folder of the repository; orange lines are events.\n\n".to_owned();
    for (subject, entries) in ENTRIES {
        let _ = write!(page, "- {subject}:");
        for entry in *entries {
            let _ = write!(page, " [{0}](#{0})", entry.folder);
        }
        page.push('\n');
    }
    let mut pictures = Vec::new();
    for (subject, entries) in ENTRIES {
        let _ = writeln!(page, "\n# {subject}");
        for entry in *entries {
            let shown = show(entry).map_err(|what| format!("{}: {what}", entry.folder))?;
            page.push_str(&shown.text);
            pictures.push((format!("{}.svg", entry.folder), shown.svg));
        }
    }
    Ok(Gallery { page, pictures })
}

struct Shown {
    text: String,
    svg: String,
}

fn show(entry: &Entry) -> Result<Shown, String> {
    let file = format!("models/{}/model.mo", entry.folder);
    let text = std::fs::read_to_string(root().join(&file)).map_err(|e| e.to_string())?;
    let mut session = Session::new();
    session.add_library_path(root().join("library"));
    session.set_text(&*file, text.clone());
    let class = last_class(&text).ok_or("no model")?;
    let compiled = session.compile(class).map_err(|e| e.to_string())?;
    let run = compiled.experiment().stop_time(entry.stop_time).simulate();
    let run = run.map_err(|e| e.to_string())?;
    let svg = draw(entry, class, &run).map_err(|e| e.to_string())?;
    let mut out = String::new();
    let _ = writeln!(out, "\n## {}\n\n{}\n", entry.folder, entry.shows);
    let _ = writeln!(out, "![{class}]({}.svg)\n", entry.folder);
    let _ = writeln!(out, "{}\n", numbers(&run));
    let uses_library = if text.contains("Saltus.") {
        " --library library"
    } else {
        ""
    };
    let plot = match entry.picture {
        Time(names) => format!(" --plot {}={}.svg", names.join(","), entry.folder),
        Phase(..) => String::new(),
    };
    let _ = writeln!(
        out,
        "```\nsaltus simulate {file}{uses_library} --stop-time {}{plot}\n```\n",
        entry.stop_time
    );
    let _ = writeln!(out, "```modelica\n{}\n```", text.trim_end());
    Ok(Shown { text: out, svg })
}

fn draw(entry: &Entry, class: &str, run: &Run) -> Result<String, PlotError> {
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let options = PlotOptions {
        title: Some(class.to_owned()),
        ..PlotOptions::default()
    };
    match entry.picture {
        Time(shown) => {
            let options = PlotOptions {
                events: happened(run).map(|e| e.time).collect(),
                ..options
            };
            plot_over_time(&run.table, &names(shown), &options)
        }
        Phase(over, shown) => plot_phase(&run.table, over, &names(shown), &options),
    }
}

fn happened(run: &Run) -> impl Iterator<Item = &EventRecord> {
    (run.events().iter()).filter(|e| !matches!(e.kind, EventKind::Initial | EventKind::Terminal))
}

/// `2 states, 2 structures, 9 events (at 0.1, …), 1 impulse.`
fn numbers(run: &Run) -> String {
    let s = &run.statistics;
    let events: Vec<f64> = happened(run).map(|e| e.time).collect();
    let mut times: Vec<String> = (events.iter().take(TIMES_SHOWN))
        .map(|t| format!("{t:.4}"))
        .collect();
    if events.len() > TIMES_SHOWN {
        times.push("…".to_owned());
    }
    let count = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let mut parts = vec![count(s.states, "state")];
    if s.modes_structured > 1 {
        parts.push(count(s.modes_structured, "structure"));
    }
    let at = if times.is_empty() {
        String::new()
    } else {
        format!(" (at {} s)", times.join(", "))
    };
    parts.push(format!("{}{at}", count(events.len(), "event")));
    if s.sliding_segments > 0 {
        parts.push(format!(
            "{} of them on a surface",
            count(s.sliding_segments as usize, "motion")
        ));
    }
    let impulses = happened(run).map(|e| e.impulses.len()).sum();
    if impulses > 0 {
        parts.push(count(impulses, "impulse"));
    }
    format!("{}.", parts.join(", "))
}

/// The name of the last model of a text at its left edge.
fn last_class(text: &str) -> Option<&str> {
    let mut declared = text.lines().filter_map(|line| line.strip_prefix("model "));
    declared.next_back()?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits are left out: the last ones of a coordinate may differ from machine to machine.
    fn without_digits(text: &str) -> String {
        text.chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    #[test]
    fn the_gallery_shows_what_the_program_does() {
        let folder = root().join("docs/gallery");
        let gallery = make().expect("every model runs");
        let stored = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(
            gallery.page == stored,
            "docs/gallery is old: run `cargo xtask gallery`"
        );
        for (name, svg) in &gallery.pictures {
            let stored = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(
                svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"),
                "{name} is no picture"
            );
            let marks = |svg: &str| without_digits(svg).matches('<').count();
            assert_eq!(
                marks(svg),
                marks(&stored),
                "{name} is old: run `cargo xtask gallery`"
            );
        }
    }
}
