//! Run-time failures in the model's own names and lines.

use crate::collector::Subject;
use saltus_model::{Fault, FaultKind, ScheduleKind, Site, Slot};
use saltus_sim::{Oscillation, SimError};
use saltus_solve::{Contradiction, LinearReason, NewtonFailure, NewtonReason, SolveError};
use saltus_syntax::source::LineCol;
use saltus_syntax::{Diagnostic, Span};

/// Most variables that a message lists.
const LISTED_MAX: usize = 8;
/// Most declarations that a message shows.
const DECLARED_MAX: usize = 4;

impl<'m> Subject<'m> {
    /// The place of a site in the sources.
    pub(crate) fn span_of(&self, site: Site) -> Option<Span> {
        let info = self.info.sites.get(site.0 as usize)?;
        let file = self.sources.find(&info.file)?;
        let start = self.sources.offset(
            file,
            LineCol {
                line: info.line,
                col: info.column,
            },
        );
        let line = self.sources.line_text(file, info.line);
        let rest = line
            .chars()
            .skip(info.column.saturating_sub(1) as usize)
            .collect::<String>();
        Some(Span::new(file, start, start + rest.trim_end().len() as u32))
    }

    fn site_text(&self, site: Site) -> &'m str {
        self.info
            .sites
            .get(site.0 as usize)
            .map_or("", |s| s.text.as_str())
    }

    pub(crate) fn slot_name(&self, slot: Slot) -> &'m str {
        &self.info.slots[slot.index()].name
    }

    fn at(&self, code: &'static str, site: Option<Site>, message: String) -> Diagnostic {
        match site.and_then(|s| self.span_of(s)) {
            Some(span) => Diagnostic::error(code, span, message),
            None => Diagnostic::placeless(code, message),
        }
    }
}

/// The message for a run that could not be completed.
pub(crate) fn failure_diagnostic(subject: Subject<'_>, error: &SimError) -> Diagnostic {
    match error {
        SimError::Options(option) => Diagnostic::placeless("wrong-option", crate::wrong_option::sentence(option))
            .help("check the options and the `experiment` annotation of the model"),
        SimError::Bind(fault) => fault_diagnostic(subject, fault, "while parameters were evaluated"),
        SimError::Evaluation { time, phase, error } => {
            let doing = match phase {
                saltus_sim::Phase::Binding => "while parameters were evaluated".to_owned(),
                saltus_sim::Phase::Initial => "during initialisation".to_owned(),
                saltus_sim::Phase::Event => format!("at the event at time {time}"),
                saltus_sim::Phase::Continuous | saltus_sim::Phase::Output => format!("at time {time}"),
            };
            let mut d = solve_diagnostic(subject, error, &doing);
            if *phase == saltus_sim::Phase::Initial {
                d = d.note(format!("the initial values could not be computed at time {time}"));
            }
            d
        }
        SimError::NonFinite { time, slot } => non_finite(subject, *slot, &format!("at time {time}")),
        SimError::StepTooSmall { time, step_size, state, cause } => step_too_small(subject, *time, *step_size, *state, cause.as_deref()),
        SimError::EventIteration { time, iterations, oscillating } => event_iteration(subject, *time, *iterations, oscillating),
        SimError::Accumulation { time, since, count, relations } => {
            let names: Vec<String> = relations.iter().take(LISTED_MAX).map(|(_, site)| format!("`{}`", subject.site_text(*site))).collect();
            let site = relations.first().map(|(_, site)| *site);
            subject
                .at("event-accumulation", site, format!("{count} events between {since} and {time}: time no longer advances"))
                .note(format!("the relations that flip: {}", names.join(", ")))
                .help("the model switches back and forth without end; use hysteresis, or describe the motion on the switching surface")
        }
        SimError::Zeno { time, limit, relation, site } => subject
            .at("event-accumulation", Some(*site), format!("events of `{}` accumulate at time {limit}", relation_text(subject, *relation, *site)))
            .note(format!("the run ended at time {time}: the model does not say how the motion goes on after infinitely many events"))
            .help("describe the state of rest in the model, for instance by a condition that holds the variable"),
        SimError::ContactLost { time, relation, site, depth } => subject
            .at("contact-lost", Some(*site), format!("the motion went through the contact `{}`: at time {time} it is {depth:e} beyond it", relation_text(subject, *relation, *site)))
            .note("impacts have turned it back before; now it goes on on the side from which they kept it, and the when-clause does not become active again")
            .help("let the `when` reset the rate of its own condition, as in `when x < h then reinit(v, -e*pre(v))` with `der(x) = v`, or describe the state of rest in the model"),
        SimError::InlineStart { slot, start, value, .. } => {
            let info = &subject.info.slots[slot.index()];
            subject
                .at("inline-start", Some(info.site), format!("`{}` is inlined, and the equations do not allow its start value {start}: it would jump to {value}", info.name))
                .help("give all inlined variables start values that fit together, or do not inline those that a constraint connects")
        }
        SimError::Calendar { time, next } => Diagnostic::placeless(
            "event-accumulation",
            format!("the next time event at {next} is not after the present time {time}"),
        )
        .help("an interval of `sample` or of a clock is zero or negative, or too small for this time"),
        SimError::NoOtherSolution { time, failure } => no_other_solution(subject, *time, failure),
        SimError::WallClock { time, seconds } => {
            Diagnostic::placeless("wall-clock", format!("the wall-clock limit was reached at time {time}, {seconds:.1} s after the run began")).help("raise `--max-wall`, or stop earlier")
        }
        SimError::InitialMode { time } => Diagnostic::placeless(
            "no-initial-mode",
            format!("at time {time} no mode agrees with the initial values that follow from it"),
        )
        .help("give start values to the discrete variables that select the branches"),
        SimError::NotRunning { time } => Diagnostic::placeless("not-running", format!("the run is not initialised, or it is over: it stands at time {time}")),
        SimError::Cancelled { time } => Diagnostic::placeless("cancelled", format!("the run was interrupted at time {time}")),
    }
}

fn fault_diagnostic(subject: Subject<'_>, fault: &Fault, doing: &str) -> Diagnostic {
    let text = subject.site_text(fault.site).to_owned();
    let site = Some(fault.site);
    match &fault.kind {
        FaultKind::Assertion {
            message,
            values,
            function,
        } => {
            let mut d = subject.at(
                "assertion-failed",
                site,
                format!("assertion failed {doing}: {message}"),
            );
            let values = values.join(", ");
            match function {
                Some(function) => {
                    d = d.note(format!("in function `{function}`: {values}"));
                    d = called_for(d, &text);
                }
                None if values.is_empty() => {}
                None => d = d.note(format!("values here: {values}")),
            }
            d.help("the model states that this must hold; check its parameters, inputs and start values")
        }
        FaultKind::Domain { function, argument } => subject
            .at(
                "non-finite-value",
                site,
                match *function {
                    "/" => format!("division by zero {doing}"),
                    _ => format!(
                        "`{function}` cannot be evaluated {doing}: its argument is {}",
                        number(*argument)
                    ),
                },
            )
            .note(format!("in `{text}`"))
            .help(
                "guard the expression with an if-expression, or correct the values that lead there",
            ),
        FaultKind::NonFinite { slot } => non_finite(subject, *slot, doing),
        FaultKind::External(message) => {
            let d = subject.at(
                "external-function-failed",
                site,
                format!("an external function failed {doing}: {message}"),
            );
            called_for(d, &text)
        }
        FaultKind::Missing(message) => {
            subject.at("external-function-missing", site, message.clone())
        }
        FaultKind::Forbidden(message) => {
            subject.at("foreign-code-not-allowed", site, message.clone())
        }
        FaultKind::Range(message) => {
            let d = subject.at("index-out-of-range", site, format!("{message} {doing}"));
            called_for(d, &text)
        }
        FaultKind::IntegerOverflow(message) => {
            subject.at("integer-overflow", site, format!("{message} {doing}"))
        }
        FaultKind::Mode {
            code,
            message,
            notes,
        } => {
            let found = subject.at(code, None, format!("{message} {doing}"));
            (notes.iter()).fold(found, |found, note| found.note(note.clone()))
        }
    }
}

/// The equation with the names of the whole model: the place may be in a library, in a class that many components have.
fn called_for(d: Diagnostic, equation: &str) -> Diagnostic {
    match equation.is_empty() {
        true => d,
        false => d.note(format!("in `{equation}`")),
    }
}

fn non_finite(subject: Subject<'_>, slot: Slot, doing: &str) -> Diagnostic {
    let site = subject.info.slots[slot.index()].site;
    subject
        .at("non-finite-value", Some(site), format!("`{}` is not a finite number {doing}", subject.slot_name(slot)))
        .help("look for a division by zero, or for growth without bound, in the equation of this variable")
}

/// The elimination inside a linear block has lost all digits.
fn amplified(subject: Subject<'_>, slot: Slot, n: usize, doing: &str) -> Diagnostic {
    let info = &subject.info.slots[slot.index()];
    let site = info.equation.unwrap_or(info.site);
    let name = subject.slot_name(slot);
    let message = format!(
        "round-off has grown to the size of `{name}` in a system of {n} linear equations {doing}"
    );
    subject
        .at("round-off-growth", Some(site), message)
        .help("the order of elimination was chosen for the parameter values written in the model: write the values there instead of setting them for the run")
}

fn solve_diagnostic(subject: Subject<'_>, error: &SolveError, doing: &str) -> Diagnostic {
    match error {
        SolveError::Fault(fault) => fault_diagnostic(subject, fault, doing),
        SolveError::NonFinite { slot } => non_finite(subject, *slot, doing),
        SolveError::NonFiniteDerivative { state } => subject.at(
            "non-finite-value",
            None,
            format!("the derivative of state {state} is not a finite number {doing}"),
        ),
        SolveError::Newton(failure) => newton(subject, failure, doing),
        SolveError::Linear(failure) => {
            let site = worst(&failure.residuals).map(|(s, _)| s);
            let n = failure.unknowns.len() + failure.inner.len();
            let what = match n {
                1 => "a linear equation".to_owned(),
                n => format!("a system of {n} linear equations"),
            };
            let rank = match failure.reason {
                LinearReason::Rank(rank) => rank,
                LinearReason::Amplified(slot) => return amplified(subject, slot, n, doing),
            };
            let spare = match failure.unknowns.len().saturating_sub(rank) {
                0 => "they determine their unknowns too badly".to_owned(),
                _ if n == 1 => "its unknown drops out".to_owned(),
                1 => "one of them contradicts the others".to_owned(),
                k => format!("{k} of them contradict the others"),
            };
            let message = format!("{what} has no solution {doing}: {spare}");
            let d = subject.at("singular-system", site, message);
            let d = listed(
                subject,
                d,
                &failure.unknowns,
                &failure.residuals,
                &failure.inner,
            );
            largest_residual(subject, d, &failure.residuals)
                .help("look for a coefficient that is zero here, for ideal switches in parallel or in series, and for missing connections")
        }
        SolveError::Mixed(failure) => {
            let mut d = unsettled(
                subject,
                "mixed-system",
                format!(
                    "no consistent switch positions were found {doing} ({} sets tried)",
                    failure.tried
                ),
                failure.oscillating.iter().map(|o| o.0),
            );
            for (slot, a, b) in failure.oscillating.iter().take(LISTED_MAX) {
                d = d.note(format!(
                    "`{}` changes between {a} and {b}",
                    describe(subject, *slot)
                ));
            }
            if let Some(cause) = &failure.cause {
                d = d.note(format!(
                    "for the last set: {}",
                    solve_diagnostic(subject, cause, doing).message
                ));
            }
            d.help("the circuit of switches has no state in which all conditions hold; check the conditions named here")
        }
        SolveError::Contradiction(found) => contradiction(subject, found),
    }
}

/// Start values that were released in vain.
fn given_up(subject: Subject<'_>, d: Diagnostic, released: &[Slot]) -> Diagnostic {
    if released.is_empty() {
        return d;
    }
    let names: Vec<String> = (released.iter().take(LISTED_MAX))
        .map(|slot| format!("`{}`", subject.slot_name(*slot)))
        .collect();
    d.note(format!(
        "start values that are not fixed were given up, in vain: {}",
        names.join(", ")
    ))
}

/// A number as people read it.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        x.to_string()
    } else {
        format!("{x:e}")
    }
}

/// Initial conditions that cannot all hold.
fn contradiction(subject: Subject<'_>, found: &Contradiction) -> Diagnostic {
    let texts: Vec<String> = (found.violated.iter().take(LISTED_MAX))
        .map(|v| format!("`{}`", subject.site_text(v.site)))
        .collect();
    let what = match &texts[..] {
        [one] => format!("{one} contradicts the other initial conditions"),
        several => format!(
            "these initial conditions contradict each other: {}",
            several.join(", ")
        ),
    };
    let site = found.violated.first().map(|v| v.site);
    let mut d = subject.at("overdetermined-initialization", site, what);
    let mut labelled: Vec<Span> = site.and_then(|s| subject.span_of(s)).into_iter().collect();
    let others = found.violated.iter().skip(1).map(|v| v.site);
    for span in
        (others.chain(found.others.iter().copied())).filter_map(|site| subject.span_of(site))
    {
        if labelled.len() <= LISTED_MAX && !labelled.contains(&span) {
            d = d.secondary(span, "this holds at the start as well");
            labelled.push(span);
        }
    }
    for v in found.violated.iter().take(LISTED_MAX) {
        let text = subject.site_text(v.site);
        d = d.note(match v.sides {
            Some((left, right)) => {
                format!("in `{text}` the left side is {left:.6}, the right side {right:.6}")
            }
            None => format!("the sides of `{text}` differ by {:.6}", v.residual),
        });
    }
    if !found.unknowns.is_empty() {
        let values = values_of(subject, found.unknowns.iter().copied());
        d = d.note(format!("the values that come nearest: {values}"));
    }
    given_up(subject, d, &found.released).help("take one of them away, or `fixed = true` from a start value, or change a value so that all of them fit")
}

/// A message about discrete variables that find no values, with the equations that determine them.
fn unsettled(
    subject: Subject<'_>,
    code: &'static str,
    message: String,
    slots: impl Iterator<Item = Slot>,
) -> Diagnostic {
    let mut places = Vec::new();
    for slot in slots.take(LISTED_MAX) {
        let info = &subject.info.slots[slot.index()];
        let site = info.equation.unwrap_or(info.site);
        if !places
            .iter()
            .any(|(_, span)| *span == subject.span_of(site))
        {
            places.push((site, subject.span_of(site)));
        }
    }
    let mut d = subject.at(code, places.first().map(|(site, _)| *site), message);
    for (_, span) in places.iter().skip(1) {
        if let Some(span) = span {
            d = d.secondary(*span, "depends on the one above, or on what it determines");
        }
    }
    d
}

/// A system of equations with relations that has another solution than the one that was taken.
pub(crate) fn several_solutions(
    subject: Subject<'_>,
    time: f64,
    several: &saltus_solve::SeveralSolutions,
) -> Diagnostic {
    let mut d = unsettled(
        subject,
        "several-solutions",
        format!("at time {time} these relations and equations have more than one solution"),
        several.discrete.iter().map(|d| d.0),
    );
    d.severity = saltus_syntax::Severity::Warning;
    for (slot, taken, other) in several.discrete.iter().take(LISTED_MAX) {
        d = d.note(format!(
            "`{}` is {} in the one taken, {} in another",
            describe(subject, *slot),
            discrete_text(*taken),
            discrete_text(*other)
        ));
    }
    for (slot, taken, other) in several.reals.iter().take(LISTED_MAX) {
        d = d.note(format!(
            "`{}` is {taken} in the one taken, {other} in another",
            describe(subject, *slot)
        ));
    }
    d.help("the one nearest to the values before was taken; an equation with `pre`, a start value or another condition can say which is meant")
}

fn discrete_text(value: f64) -> String {
    match value {
        0.0 => "false".to_owned(),
        1.0 => "true".to_owned(),
        other => other.to_string(),
    }
}

/// The name of a slot, or the relation it stands for.
fn describe(subject: Subject<'_>, slot: Slot) -> String {
    let name = subject.slot_name(slot);
    if !name.starts_with('$') {
        return name.to_owned();
    }
    let text = subject.site_text(subject.info.slots[slot.index()].site);
    if text.is_empty() {
        name.to_owned()
    } else {
        text.to_owned()
    }
}

/// The relation as written, or the name of its slot.
fn relation_text(subject: Subject<'_>, slot: Slot, site: Site) -> String {
    match subject.site_text(site) {
        "" => describe(subject, slot),
        text => text.to_owned(),
    }
}

fn worst(residuals: &[(Site, f64)]) -> Option<(Site, f64)> {
    residuals
        .iter()
        .copied()
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

fn block_of(failure: &NewtonFailure) -> String {
    let n = failure.unknowns.len();
    let s = if n == 1 { "" } else { "s" };
    format!("in block {} with {n} unknown{s}", failure.block.0)
}

fn no_other_solution(subject: Subject<'_>, time: f64, failure: &NewtonFailure) -> Diagnostic {
    if let NewtonReason::Evaluation(_) = failure.reason {
        return newton(subject, failure, &format!("just after time {time}"));
    }
    let d = subject.at(
        "newton-failed",
        worst(&failure.residuals).map(|(s, _)| s),
        format!(
            "the real solution that was followed ends at time {time:.9}, and no other was found, {}",
            block_of(failure)
        ),
    );
    let (unknowns, residuals) = (&failure.unknowns, &failure.residuals);
    listed(subject, d, unknowns, residuals, &failure.inner).help(
        "the equations have no solution beyond this time, or one so far away that it was not found",
    )
}

fn newton(subject: Subject<'_>, failure: &NewtonFailure, doing: &str) -> Diagnostic {
    let worst = worst(&failure.residuals);
    let why = match &failure.reason {
        NewtonReason::Iterations => {
            format!("did not converge in {} iterations", failure.iterations)
        }
        NewtonReason::Damping => "found no step that reduces the residual".to_owned(),
        NewtonReason::Singular { rank } => {
            format!("came to a point where the equations are singular (rank {rank})")
        }
        NewtonReason::Evaluation(cause) => format!(
            "could not evaluate the equations: {}",
            solve_diagnostic(subject, cause, "on the way").message
        ),
    };
    let initial = failure.schedule == ScheduleKind::Initial;
    let code = match initial {
        true => "initialization-failed",
        false => "newton-failed",
    };
    let mut d = subject.at(
        code,
        worst.map(|(s, _)| s),
        format!("Newton's method {why} {doing}, {}", block_of(failure)),
    );
    if initial {
        for (slot, _) in failure.unknowns.iter().take(DECLARED_MAX) {
            let site = subject.info.slots[slot.index()].site;
            if let Some(span) = subject.span_of(site) {
                d = d.secondary(
                    span,
                    "an unknown of this block: its start value is the first guess",
                );
            }
        }
    }
    let names: Vec<&str> = failure
        .unknowns
        .iter()
        .take(LISTED_MAX)
        .map(|(s, _)| subject.slot_name(*s))
        .collect();
    let d = listed(
        subject,
        d,
        &failure.unknowns,
        &failure.residuals,
        &failure.inner,
    );
    let guesses: Vec<String> = (failure.unknowns.iter().zip(&failure.guesses))
        .take(LISTED_MAX)
        .map(|((s, _), x)| format!("{} = {x:.6}", subject.slot_name(*s)))
        .collect();
    let d = d.note(format!("the iteration began at: {}", guesses.join(", ")));
    let d = given_up(subject, d, &failure.released);
    largest_residual(subject, d, &failure.residuals).help(format!(
        "try start values near the solution for {}; the equations may also have no real solution here",
        names.join(", ")
    ))
}

fn listed(
    subject: Subject<'_>,
    mut d: Diagnostic,
    unknowns: &[(Slot, f64)],
    residuals: &[(Site, f64)],
    inner: &[Site],
) -> Diagnostic {
    let worst_site = worst(residuals).map(|(site, _)| site);
    let equations = residuals
        .iter()
        .map(|(site, _)| *site)
        .chain(inner.iter().copied());
    let mut labelled: Vec<Span> = Vec::new();
    let others = equations.filter(|site| Some(*site) != worst_site);
    for span in others.filter_map(|site| subject.span_of(site)) {
        if labelled.len() < LISTED_MAX && !labelled.contains(&span) {
            d = d.secondary(span, "solved together with this one");
            labelled.push(span);
        }
    }
    let values = values_of(subject, unknowns.iter().copied());
    d.note(format!("last values: {values}"))
}

/// `x = 1.000000, y = 2.000000 and 3 more`
fn values_of(subject: Subject<'_>, values: impl ExactSizeIterator<Item = (Slot, f64)>) -> String {
    let more = values.len().saturating_sub(LISTED_MAX);
    let texts: Vec<String> = values
        .take(LISTED_MAX)
        .map(|(s, x)| format!("{} = {x:.6}", subject.slot_name(s)))
        .collect();
    match more {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts.join(", ")),
    }
}

fn largest_residual(subject: Subject<'_>, d: Diagnostic, residuals: &[(Site, f64)]) -> Diagnostic {
    match worst(residuals) {
        Some((site, r)) => d.note(format!(
            "largest residual {r:.3e} in `{}`",
            subject.site_text(site)
        )),
        None => d,
    }
}

fn step_too_small(
    subject: Subject<'_>,
    time: f64,
    step_size: f64,
    state: Option<Slot>,
    cause: Option<&SolveError>,
) -> Diagnostic {
    if let Some(cause) = cause {
        let doing = format!("just after time {time}");
        return solve_diagnostic(subject, cause, &doing).note(format!(
            "the step size was reduced to {step_size:.3e} without success"
        ));
    }
    let site = state.map(|s| subject.info.slots[s.index()].site);
    let name = state.map_or(String::new(), |s| {
        format!(" because of `{}`", subject.slot_name(s))
    });
    subject
        .at("step-too-small", site, format!("the step size fell to {step_size:.3e} at time {time}{name}"))
        .help("the solution may grow without bound or have a singularity here; try another tolerance, or check the equation")
}

fn event_iteration(
    subject: Subject<'_>,
    time: f64,
    iterations: u32,
    oscillating: &[Oscillation],
) -> Diagnostic {
    let mut d = unsettled(
        subject,
        "event-iteration",
        format!(
            "the event iteration at time {time} did not come to rest after {iterations} passes"
        ),
        oscillating.iter().map(|o| o.slot),
    );
    for o in oscillating.iter().take(LISTED_MAX) {
        let values: Vec<String> = o.values.iter().map(f64::to_string).collect();
        d = d.note(format!(
            "`{}` goes {}",
            describe(subject, o.slot),
            values.join(" → ")
        ));
    }
    d.help("these variables depend on each other's previous values without a fixed point; break the circle")
}
