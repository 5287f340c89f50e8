//! `cargo run --release -p saltus-bench -- [NAME…] [--write DIRECTORY]`: speed of the simulator against programs written by hand and
//! against CVODE, and how the compiler's passes grow with the model.
//!
//! Every number that matters is a ratio of times measured in the same run (`docs/benchmarks/README.md`).

mod dopri5;
mod events;
mod growth;
mod hand;
mod measure;
mod modes;
mod native;
mod network;
mod report;
mod stiff;

use report::Section;
use std::path::PathBuf;

const OTHERS: [&str; 10] = [
    "heat-1000",
    "heat-20000",
    "ladder-10",
    "ladder-50",
    "ladder-200",
    "network-1000",
    "network-10000",
    "growth",
    "native",
    "modes",
];

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, kind, size] = arguments.as_slice()
        && first == "growth-one"
    {
        growth::one(kind, size.parse().expect("a number of equations"));
        return;
    }
    let directory = arguments.iter().position(|a| a == "--write").map(|at| {
        let mut both = arguments.drain(at..arguments.len().min(at + 2)).skip(1);
        PathBuf::from(both.next().expect("--write needs a directory"))
    });
    let known = || events::NAMES.into_iter().chain(OTHERS);
    if let Some(unknown) = arguments.iter().find(|a| !known().any(|name| name == *a)) {
        let names: Vec<&str> = known().collect();
        eprintln!("no benchmark `{unknown}`; there are: {}", names.join(" "));
        std::process::exit(2);
    }
    let asked = |name: &str| arguments.is_empty() || arguments.iter().any(|a| a == name);
    let show = |name: &str, section: Section| {
        print_section(&section);
        if let Some(directory) = &directory
            && let Err(error) = section.write(directory, name)
        {
            eprintln!("cannot write {name}: {error}");
            std::process::exit(1);
        }
    };
    if events::NAMES.into_iter().any(asked) {
        show("events", events::events(asked));
    }
    for name in OTHERS.into_iter().filter(|name| asked(name)) {
        let section = match name.split_once('-') {
            Some(("heat", n)) => stiff::heat(n.parse().expect("a size")),
            Some(("ladder", n)) => stiff::diode_ladder(n.parse().expect("a size")),
            Some(("network", n)) => network::network(n.parse().expect("a size")),
            _ if name == "native" => native::right_hand_sides(),
            _ if name == "modes" => modes::modes(),
            _ => growth::growth(),
        };
        show(name, section);
    }
}

#[expect(clippy::print_stdout, reason = "the program's output")]
fn print_section(section: &Section) {
    println!("{}", section.markdown());
}
