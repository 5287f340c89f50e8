//! Random texts: mutations of real ones and sentences of the grammar. Each must end in a result or a message, soon.

use crate::random::Random;
use saltus::{Memory, Session};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Seconds after which a case counts as hanging.
const HANG: Duration = Duration::from_secs(20);
/// Wall time of a run of a text that turned out to be a model.
const RUN_SECONDS_MAX: f64 = 2.0;
/// Texts longer than this are cut: the size of a text is another test.
const LENGTH_MAX: usize = 20_000;
/// Stack of the thread of a case, that of the program's own.
const STACK_BYTES: usize = 64 << 20;

/// Pieces that mutations insert.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ".",
    ":",
    "=",
    ":=",
    "==",
    "<>",
    "+",
    "-",
    ".*",
    "^",
    "'",
    "\"",
    "//",
    "/*",
    "\n",
    " ",
    "model",
    "end",
    "extends",
    "redeclare",
    "replaceable",
    "inner",
    "outer",
    "each",
    "final",
    "partial",
    "function",
    "record",
    "package",
    "connector",
    "flow",
    "stream",
    "equation",
    "algorithm",
    "initial",
    "when",
    "elsewhen",
    "then",
    "if",
    "elseif",
    "else",
    "for",
    "in",
    "loop",
    "while",
    "break",
    "return",
    "der",
    "pre",
    "edge",
    "change",
    "sample",
    "initial()",
    "terminal()",
    "noEvent",
    "smooth",
    "delay",
    "spatialDistribution",
    "reinit",
    "assert",
    "terminate",
    "time",
    "sum",
    "size",
    "fill",
    "cat",
    "true",
    "false",
    "Real",
    "Integer",
    "Boolean",
    "String",
    "enumeration",
    "Clock",
    "previous",
    "hold",
    "homotopy",
    "semiLinear",
    "inStream",
    "connect",
    "constant",
    "parameter",
    "discrete",
    "input",
    "output",
    "protected",
    "external",
    "annotation",
    "within",
    "import",
    "encapsulated",
    "operator",
    "type",
    "expandable",
    "constrainedby",
    "not",
    "and",
    "or",
    "0",
    "1",
    "-1",
    "2147483648",
    "9223372036854775807",
    "1e308",
    "1e-308",
    "1e999",
    "0.1",
    "x",
    "y",
    "x[1]",
    "x.y",
    "(x = 1)",
    "(start = 1, fixed = true)",
    "der(der(x))",
    "pre(pre(x))",
    "1:0",
    "1:x",
    "\u{e9}",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
];

/// What became of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A model that ran.
    Ran,
    /// A model whose run ended with a message.
    RunFailed,
    /// A message about the text.
    Refused,
    Panicked,
    Hangs,
}

impl Outcome {
    pub fn is_fault(self) -> bool {
        matches!(self, Outcome::Panicked | Outcome::Hangs)
    }
}

/// A text from a seed: every fourth a sentence of the grammar, the others mutations of texts of the corpus.
pub fn generate(corpus: &[String], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = if corpus.is_empty() || random.one_in(4) {
        sentence(&mut random)
    } else {
        let mut text = random.pick(corpus).clone();
        for _ in 0..1 + random.below(6) {
            let other = random.pick(corpus).clone();
            text = mutate(&mut random, &text, &other);
        }
        text
    };
    if text.len() > LENGTH_MAX {
        let cut = (0..=LENGTH_MAX).rev().find(|&k| text.is_char_boundary(k));
        text.truncate(cut.unwrap_or(0));
    }
    text
}

/// Words, numbers, signs and blanks of a text, in order.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after;
    }
    found
}

fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let mut list = tokens(text);
    if list.is_empty() {
        return other.to_owned();
    }
    let at = random.below(list.len());
    let span = 1 + random.below(8.min(list.len() - at));
    match random.below(8) {
        0 => drop(list.drain(at..at + span)),
        1 => {
            let copied: Vec<&str> = list[at..at + span].to_vec();
            let to = random.below(list.len());
            list.splice(to..to, copied);
        }
        2 => {
            let with = random.below(list.len());
            list.swap(at, with);
        }
        3 => list[at] = *random.pick(PIECES),
        4 => list.insert(at, *random.pick(PIECES)),
        5 => {
            // A piece of another text.
            let others = tokens(other);
            let from = random.below(others.len().max(1)).min(others.len());
            let until = (from + 1 + random.below(30)).min(others.len());
            list.splice(at..at, others[from..until].iter().copied());
        }
        6 => {
            // One word by another of the same text.
            let from = random.below(list.len());
            list[at] = list[from];
        }
        _ => {
            let times = 1 + random.below(40);
            let piece: Vec<&str> = list[at..at + span].to_vec();
            let many: Vec<&str> = piece.iter().copied().cycle().take(times * span).collect();
            list.splice(at..at, many);
        }
    }
    list.concat()
}

/// A sentence of the grammar, whatever it means.
fn sentence(random: &mut Random) -> String {
    let mut out = String::new();
    class(random, &mut out, "M", 3);
    out
}

fn class(random: &mut Random, out: &mut String, name: &str, depth: usize) {
    let kind = random.pick(&[
        "model",
        "model",
        "class",
        "record",
        "function",
        "package",
        "connector",
        "block",
    ]);
    out.push_str(&format!("{kind} {name}\n"));
    for k in 0..random.below(5) {
        if depth > 0 && random.one_in(4) {
            class(random, out, &format!("C{k}"), depth - 1);
            continue;
        }
        let prefix = random.pick(&[
            "",
            "",
            "",
            "parameter ",
            "constant ",
            "discrete ",
            "input ",
            "output ",
            "inner ",
            "outer ",
            "flow ",
            "replaceable ",
            "final ",
        ]);
        let ty = random.pick(&[
            "Real",
            "Real",
            "Integer",
            "Boolean",
            "String",
            "C0",
            "C1",
            "M",
            "enumeration(a, b)",
        ]);
        let dims = random.pick(&["", "", "", "[2]", "[:]", "[0]", "[2, 3]"]);
        out.push_str(&format!(
            "  {prefix}{ty} {}{dims}",
            random.pick(&["x", "y", "z", "n", "b"])
        ));
        if random.one_in(3) {
            out.push_str(&format!(
                "(start = {}, fixed = true)",
                expression(random, 1)
            ));
        }
        if random.one_in(3) {
            out.push_str(&format!(" = {}", expression(random, 3)));
        }
        out.push_str(";\n");
    }
    if random.one_in(6) {
        out.push_str(&format!(
            "  extends {}(x = {});\n",
            random.pick(&["C0", "C1", "M"]),
            expression(random, 1)
        ));
    }
    for _ in 0..random.below(3) {
        let algorithm = random.one_in(3);
        let heads = if algorithm {
            ["algorithm\n", "initial algorithm\n"]
        } else {
            ["equation\n", "initial equation\n"]
        };
        let &head = random.pick(&heads);
        out.push_str(head);
        for _ in 0..1 + random.below(4) {
            statement(random, out, algorithm, 2);
        }
    }
    out.push_str(&format!("end {name};\n"));
}

fn statement(random: &mut Random, out: &mut String, algorithm: bool, depth: usize) {
    let sign = if algorithm { ":=" } else { "=" };
    let c = expression(random, 2);
    match random.below(if depth > 0 { 10 } else { 5 }) {
        0..=3 => {
            let left = if algorithm {
                variable(random)
            } else {
                expression(random, 2)
            };
            out.push_str(&format!("  {left} {sign} {};\n", expression(random, 3)));
        }
        4 => out.push_str(&format!(
            "  {};\n",
            random.pick(&[
                "assert(b, \"a\")",
                "reinit(x, 0)",
                "terminate(\"t\")",
                "connect(x, y)",
                "C0(x)",
                "x.f(1)"
            ])
        )),
        5..=6 => block(
            random,
            out,
            algorithm,
            depth,
            &format!("if {c} then"),
            "elseif",
            "end if;",
        ),
        7..=8 => block(
            random,
            out,
            algorithm,
            depth,
            &format!("when {c} then"),
            "elsewhen",
            "end when;",
        ),
        _ => {
            let head = format!("for i in {} loop", expression(random, 1));
            block(random, out, algorithm, depth, &head, "", "end for;");
        }
    }
}

fn block(
    random: &mut Random,
    out: &mut String,
    algorithm: bool,
    depth: usize,
    head: &str,
    also: &str,
    end: &str,
) {
    out.push_str(&format!("  {head}\n"));
    statement(random, out, algorithm, depth - 1);
    if !also.is_empty() && random.one_in(2) {
        out.push_str(&format!("  {also} {} then\n", expression(random, 1)));
        statement(random, out, algorithm, depth - 1);
    }
    out.push_str(&format!("  {end}\n"));
}

fn variable(random: &mut Random) -> String {
    (*random.pick(&[
        "x", "y", "z", "n", "b", "x[1]", "x[n]", "y.x", "x[:]", "time", "i",
    ]))
    .to_owned()
}

fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return match random.below(3) {
            0 => (*random.pick(&[
                "0",
                "1",
                "2",
                "0.5",
                "-1",
                "1e10",
                "true",
                "false",
                "\"s\"",
                "{1, 2}",
                "1:3",
                "fill(0, 2)",
            ]))
            .to_owned(),
            _ => variable(random),
        };
    }
    let a = expression(random, depth - 1);
    match random.below(8) {
        0..=2 => {
            let op = random.pick(&[
                "+", "-", "*", "/", "^", "<", ">", "==", "<>", "and", "or", ".*", ":",
            ]);
            format!("({a} {op} {})", expression(random, depth - 1))
        }
        3..=5 => {
            let name = random.pick(&[
                "der",
                "pre",
                "edge",
                "change",
                "abs",
                "sin",
                "sqrt",
                "noEvent",
                "size",
                "sum",
                "floor",
                "integer",
                "not",
                "-",
                "initial",
                "previous",
                "hold",
                "C0",
                "C1",
                "transpose",
                "vector",
                "cardinality",
                "inStream",
                "actualStream",
                "String",
            ]);
            format!("{name}({a})")
        }
        6 => {
            let name = random.pick(&[
                "sample", "delay", "mod", "div", "rem", "max", "min", "smooth", "homotopy",
                "atan2", "cat", "cross", "fill",
            ]);
            format!("{name}({a}, {})", expression(random, depth - 1))
        }
        _ => format!(
            "if {a} then {} else {}",
            expression(random, depth - 1),
            expression(random, depth - 1)
        ),
    }
}

/// Compiles a text, and runs it for a moment if it is a model. In a thread of its own, with a bound on time.
pub fn check(text: &str) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let text = text.to_owned();
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| carry_out(&text)));
            // Nobody listens after the bound on time.
            let _ = sender.send(outcome.unwrap_or(Outcome::Panicked));
        });
    match (worker, receiver.recv_timeout(HANG)) {
        (Ok(_), Ok(outcome)) => outcome,
        _ => Outcome::Hangs,
    }
}

fn carry_out(text: &str) -> Outcome {
    let mut world = Memory::default();
    world.add("/case.mo", text);
    let mut session = Session::with_world(world);
    let Ok(class) = session.load_file("/case.mo") else {
        return Outcome::Refused;
    };
    let Ok(model) = session.compile(&class) else {
        return Outcome::Refused;
    };
    let run = model
        .experiment()
        .stop_time(1.0)
        .intervals(10)
        .max_wall(RUN_SECONDS_MAX)
        .simulate();
    match run {
        Ok(_) => Outcome::Ran,
        Err(_) => Outcome::RunFailed,
    }
}

/// The smallest text that the mutation by leaving out reaches and that still fails in the same way.
pub fn minimise(text: &str, outcome: Outcome, tries_max: usize) -> String {
    let mut kept: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    let mut span = (kept.len() / 2).max(1);
    let mut tries = 0;
    while span >= 1 && tries < tries_max {
        let mut at = 0;
        let mut smaller = false;
        while at < kept.len() && tries < tries_max {
            let mut candidate = kept.clone();
            candidate.drain(at..(at + span).min(kept.len()));
            tries += 1;
            if check(&candidate.concat()) == outcome {
                kept = candidate;
                smaller = true;
            } else {
                at += span;
            }
        }
        if !smaller || span > 1 {
            span /= 2;
        }
    }
    kept.concat()
}

/// Texts of the repository that mutations start from: models, examples, the library, the cases of the specification.
pub fn corpus(root: &Path) -> io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for folder in ["models", "examples", "library", "crates/saltus-fuzz/corpus"] {
        texts.extend(
            files(&root.join(folder), "mo")?
                .into_iter()
                .map(|(_, text)| text),
        );
    }
    for (_, page) in files(&root.join("spec"), "md")? {
        let mut parts = page.split("```");
        // Every second part is a block; its first line says of what.
        while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
            if let Some(text) = block.strip_prefix("modelica") {
                texts.push(text.to_owned());
            }
        }
    }
    Ok(texts)
}

/// The files below a folder that end so, in order.
pub fn files(folder: &Path, ending: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                let text = std::fs::read_to_string(&path)?;
                found.push((path, text));
            }
        }
    }
    found.sort();
    Ok(found)
}
