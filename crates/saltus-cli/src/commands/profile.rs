use std::fmt::Write as _;

use saltus::{BlockCost, CostView, LineCost, Run};
use saltus_results::{EventRecord, Seconds};
use serde::Serialize;

use crate::args::{Format, ProfileArgs};
use crate::engine::{self, failure};
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::given::{self, Prepared};

/// `saltus profile`
pub(crate) fn profile(args: &ProfileArgs) -> Outcome {
    if engine::is_compiled(std::path::Path::new(&args.target.target)) {
        return Err(Failure::command_line(format!(
            "`{}` is compiled: a profile needs the source of the model",
            args.target.target
        )));
    }
    let (mut session, class) = engine::open(&args.target)?;
    engine::permit(&mut session, &args.access)?;
    let set = &args.set;
    let prepared = given::prepare(
        &mut session,
        &args.target,
        &class,
        &set.given,
        &set.settings,
    )?;
    let costs = session.cost_view(&class).map_err(failure)?;
    let (run, why) = ran(&prepared, args)?;
    let report = Report::new(prepared.model.name(), costs, &run, args.top);
    print(&match args.format {
        Format::Text => report.text(),
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).expect("plain data has a JSON form");
            format!("{json}\n")
        }
    })?;
    match why {
        Some(why) => {
            message(why.trim_end());
            Ok(Exit::Incomplete)
        }
        None => Ok(Exit::Done),
    }
}

/// The run, and why it could not be completed.
fn ran(prepared: &Prepared, args: &ProfileArgs) -> Result<(Run, Option<String>), Failure> {
    let mut experiment = prepared.experiment().record_steps(true).keep(Vec::new());
    if let Some(time) = args.start_time {
        experiment = experiment.start_time(time);
    }
    if let Some(time) = args.stop_time {
        experiment = experiment.stop_time(time);
    }
    if let Some(tolerance) = args.tolerance {
        experiment = experiment.tolerance(tolerance);
    }
    if let Some(name) = &args.solver {
        experiment = experiment.solver(name).map_err(failure)?;
    }
    match experiment.simulate() {
        Ok(run) => Ok((run, None)),
        Err(saltus::Error::Run(why, run)) => Ok((*run, Some(why.to_string()))),
        Err(error) => Err(failure(error)),
    }
}

/// The names of the fields are a promise to users.
#[derive(Serialize)]
struct Report {
    model: String,
    time_reached: f64,
    seconds: Seconds,
    steps: u64,
    steps_rejected: u64,
    rhs_evaluations: u64,
    jacobians: u64,
    step_sizes: StepSizes,
    /// Causes of events, the most frequent first.
    events: Vec<CauseCount>,
    /// The stretch of time with the most events.
    chatter: Option<Chatter>,
    lines: Vec<LineCost>,
    blocks: Vec<BlockCost>,
}

#[derive(Serialize, Default)]
struct StepSizes {
    min: f64,
    /// Where the smallest step ends.
    min_at: f64,
    median: f64,
    max: f64,
    /// Steps by integrator, with rejected attempts.
    methods: Vec<(String, u64, u64)>,
}

#[derive(Serialize)]
struct CauseCount {
    cause: String,
    file: String,
    line: u32,
    count: usize,
    share: f64,
    /// Passes of the event iteration.
    iterations: u64,
}

#[derive(Serialize)]
struct Chatter {
    from: f64,
    to: f64,
    events: usize,
    /// The causes there, the most frequent first.
    causes: Vec<String>,
    /// Variables that change most often there.
    variables: Vec<String>,
}

/// Parts of the run in which events are counted.
const PARTS: usize = 100;
/// More events than this share of all in one part are chatter.
const CHATTER_SHARE: f64 = 0.1;
/// Fewer events than these are none.
const CHATTER_MIN: usize = 50;
/// Names that are listed.
const NAMED: usize = 3;

impl Report {
    fn new(model: &str, costs: CostView, run: &Run, top: usize) -> Report {
        let CostView {
            mut lines,
            mut blocks,
            ..
        } = costs;
        lines.truncate(top);
        blocks.truncate(top);
        let stats = &run.statistics;
        Report {
            model: model.to_owned(),
            time_reached: run.time_reached,
            seconds: stats.seconds,
            steps: stats.steps,
            steps_rejected: stats.steps_rejected,
            rhs_evaluations: stats.rhs_evaluations,
            jacobians: stats.jacobians,
            step_sizes: step_sizes(run),
            events: causes(run.events(), top),
            chatter: chatter(run),
            lines,
            blocks,
        }
    }

    fn text(&self) -> String {
        let mut out = format!("{}: up to {} s\n\n", self.model, self.time_reached);
        let s = &self.seconds;
        let whole = s.total.max(f64::MIN_POSITIVE);
        for (name, seconds) in [
            ("parse", s.parse),
            ("flatten", s.flatten),
            ("structure", s.structure),
            ("code", s.codegen),
            ("initialise", s.initialize),
            ("simulate", s.simulate),
        ] {
            let _ = writeln!(
                out,
                "{name:10}  {seconds:9.4} s  {:4.0} %",
                100.0 * seconds / whole
            );
        }
        let sizes = &self.step_sizes;
        let _ = writeln!(
            out,
            "\n{} steps, {} rejected, {} evaluations, {} Jacobians\nstep sizes {:.2e} (at {:.6} s) to {:.2e} s, median {:.2e} s",
            self.steps,
            self.steps_rejected,
            self.rhs_evaluations,
            self.jacobians,
            sizes.min,
            sizes.min_at,
            sizes.max,
            sizes.median
        );
        for (method, steps, rejected) in &sizes.methods {
            let _ = writeln!(
                out,
                "  {method}: {steps} steps, {rejected} rejected attempts"
            );
        }
        if !self.events.is_empty() {
            let _ = writeln!(out, "\nevents by cause");
        }
        for e in &self.events {
            let _ = writeln!(
                out,
                "{:8}  {:4.0} %  {}  {}:{}",
                e.count,
                100.0 * e.share,
                e.cause,
                e.file,
                e.line
            );
        }
        if let Some(c) = &self.chatter {
            let _ = writeln!(
                out,
                "chatter: {} events between {:.6} and {:.6} s: {}; what changes: {}",
                c.events,
                c.from,
                c.to,
                c.causes.join(", "),
                c.variables.join(", ")
            );
        }
        if !self.blocks.is_empty() {
            let _ = writeln!(
                out,
                "\nsystems of equations, share of an evaluation (estimated)"
            );
        }
        for b in &self.blocks {
            let _ = writeln!(
                out,
                "{:8.1} %  {}, {} unknowns of {} ({}, …)  {}:{}",
                100.0 * b.share,
                b.kind,
                b.unknowns,
                b.equations,
                b.example,
                b.file,
                b.line
            );
        }
        let _ = writeln!(out, "\nlines, share of an evaluation (estimated)");
        for l in &self.lines {
            let _ = writeln!(
                out,
                "{:8.1} %  {}:{}  {} ({})",
                100.0 * l.share,
                l.file,
                l.line,
                l.determines,
                match l.equations {
                    1 => "1 equation".to_owned(),
                    n => format!("{n} equations"),
                }
            );
        }
        out
    }
}

fn step_sizes(run: &Run) -> StepSizes {
    let mut sizes: Vec<f64> = run.steps.iter().map(|step| step.step_size).collect();
    sizes.sort_by(f64::total_cmp);
    let Some(least) = run
        .steps
        .iter()
        .min_by(|a, b| a.step_size.total_cmp(&b.step_size))
    else {
        return StepSizes::default();
    };
    let mut methods: Vec<(String, u64, u64)> = Vec::new();
    for step in &run.steps {
        match methods.iter_mut().find(|(name, ..)| name == step.method) {
            Some((_, steps, rejected)) => {
                *steps += 1;
                *rejected += step.rejected;
            }
            None => methods.push((step.method.to_owned(), 1, step.rejected)),
        }
    }
    StepSizes {
        min: least.step_size,
        min_at: least.time,
        median: sizes[sizes.len() / 2],
        max: sizes[sizes.len() - 1],
        methods,
    }
}

/// Events with the relations that flipped; those without one by their kind.
fn causes(events: &[EventRecord], top: usize) -> Vec<CauseCount> {
    let mut found: Vec<CauseCount> = Vec::new();
    for event in events {
        let mut named: Vec<(String, String, u32)> = (event.cause.iter())
            .map(|c| (c.expression.clone(), c.file.clone(), c.line))
            .collect();
        if named.is_empty() {
            named.push((event.kind.as_str().to_owned(), String::new(), 0));
        }
        for (cause, file, line) in named {
            let known = found
                .iter_mut()
                .find(|f| f.cause == cause && f.line == line);
            match known {
                Some(known) => {
                    known.count += 1;
                    known.iterations += u64::from(event.iterations);
                }
                None => found.push(CauseCount {
                    cause,
                    file,
                    line,
                    count: 1,
                    share: 0.0,
                    iterations: u64::from(event.iterations),
                }),
            }
        }
    }
    let n = events.len().max(1) as f64;
    found.iter_mut().for_each(|f| f.share = f.count as f64 / n);
    found.sort_by_key(|f| std::cmp::Reverse(f.count));
    found.truncate(top);
    found
}

fn chatter(run: &Run) -> Option<Chatter> {
    let events = run.events();
    let span = run.time_reached - run.time_start;
    if span <= 0.0 {
        return None;
    }
    let part =
        |time: f64| (((time - run.time_start) / span * PARTS as f64) as usize).min(PARTS - 1);
    let mut counts = vec![0_usize; PARTS];
    events.iter().for_each(|e| counts[part(e.time)] += 1);
    let (fullest, &n) = counts.iter().enumerate().max_by_key(|(_, n)| **n)?;
    if n < CHATTER_MIN || (n as f64) < CHATTER_SHARE * events.len() as f64 {
        return None;
    }
    let there: Vec<&EventRecord> = events.iter().filter(|e| part(e.time) == fullest).collect();
    let most = |names: &mut dyn Iterator<Item = String>| -> Vec<String> {
        let mut counted: Vec<(String, usize)> = Vec::new();
        for name in names {
            match counted.iter_mut().find(|(known, _)| *known == name) {
                Some((_, n)) => *n += 1,
                None => counted.push((name, 1)),
            }
        }
        counted.sort_by_key(|c| std::cmp::Reverse(c.1));
        counted
            .into_iter()
            .take(NAMED)
            .map(|(name, n)| format!("`{name}` ({n})"))
            .collect()
    };
    let width = span / PARTS as f64;
    let from = run.time_start + fullest as f64 * width;
    Some(Chatter {
        from,
        to: from + width,
        events: n,
        causes: most(
            &mut there
                .iter()
                .flat_map(|e| e.cause.iter().map(|c| c.expression.clone())),
        ),
        variables: most(
            &mut there
                .iter()
                .flat_map(|e| e.changed.iter().map(|c| c.variable.clone())),
        ),
    })
}
