//! What `saltus show --stage structure|jacobian` hands out beside text: plain data for JSON, and pictures.
//!
//! Comes in: a structured system, or the system of a compiled model. The field names are a promise to users.

use saltus_ir::flat::Origin;
use saltus_ir::{ExprId, Id, VarId};
use saltus_model::{BlockId, ModelInfo, ScheduleKind, Section, System, colour_columns};
use saltus_plot::{PictureEquation, PictureUnknown, StructurePicture};
use saltus_structure::{Assignment, Block, Step, StructuredSystem};
use saltus_syntax::SourceMap;
use serde::Serialize;
use std::fmt::Write;

/// The structure of a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StructureView {
    pub model: String,
    pub n_equations: usize,
    pub n_unknowns: usize,
    pub states: Vec<StateView>,
    pub state_sets: Vec<StateSetView>,
    /// Blocks in the order of evaluation; a single equation is a block of its own.
    pub blocks: Vec<BlockView>,
    pub crossings: Vec<CrossingView>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StateView {
    pub name: String,
    pub derivative: String,
    /// Why it was chosen.
    pub reason: String,
}

/// Candidates of which some are states, chosen during the run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StateSetView {
    pub chosen: usize,
    /// For each order of derivative.
    pub candidates: Vec<Vec<String>>,
    pub constraints: Vec<EquationView>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BlockView {
    /// `explicit`, `discrete`, `linear`, `nonlinear`, `mixed linear`, `mixed nonlinear`.
    pub kind: &'static str,
    /// Of linear blocks, what their coefficients depend on: `constant`, `parameter`, `discrete` (change at events only), `varying`.
    pub coefficients: Option<&'static str>,
    /// Unknowns that are iterated upon.
    pub torn: Vec<String>,
    /// Equations with the unknown that each determines, in the order of evaluation.
    pub equations: Vec<EquationView>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EquationView {
    pub text: String,
    pub determines: Option<String>,
    /// The unknown is found by iteration, this equation says when to stop.
    pub residual: bool,
    /// Unknowns of the sorted system in it.
    pub reads: Vec<String>,
    pub file: String,
    pub line: u32,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CrossingView {
    pub relation: String,
    pub function: String,
    /// `affine` in the states, or `general`.
    pub class: &'static str,
    pub file: String,
    pub line: u32,
}

impl StructureView {
    pub fn to_json(&self) -> String {
        json(self)
    }
}

pub(crate) fn json(view: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(view);
    let mut text = text.unwrap_or_else(|e| unreachable!("plain data: {e}"));
    text.push('\n');
    text
}

/// A row of the sorted system.
struct Row {
    var: VarId,
    value: ExprId,
    origin: Origin,
    residual: bool,
}

/// The rows of a step.
struct Rows {
    kind: &'static str,
    coefficients: Option<&'static str>,
    rows: Vec<Row>,
}

struct Viewer<'a> {
    system: &'a StructuredSystem,
    sources: &'a SourceMap,
}

impl Viewer<'_> {
    fn name(&self, v: VarId) -> String {
        self.system.flat.variables[v].name.to_string()
    }

    fn place(&self, origin: Origin) -> (String, u32) {
        let span = origin.span;
        if (span.file.0 as usize) < self.sources.len() {
            let line = self.sources.line_col(span.file, span.start).line;
            (self.sources.file(span.file).name.clone(), line)
        } else {
            (String::new(), 0)
        }
    }

    /// The rows of each step that computes something, inner assignments before residuals.
    fn rows(&self) -> Vec<Rows> {
        let assigned = |a: &Assignment| Row {
            var: a.var,
            value: a.value,
            origin: a.origin,
            residual: false,
        };
        let block_rows = |block: &Block| {
            let inner = block.inner.iter().map(assigned);
            let residuals = block.residuals.iter().zip(&block.unknowns);
            let residuals = residuals.map(|(&(value, origin), &var)| Row {
                var,
                value,
                origin,
                residual: true,
            });
            let discrete = block.discrete.iter().map(assigned);
            inner.chain(residuals).chain(discrete).collect()
        };
        (self.system.event.iter())
            .filter_map(|step| match step {
                Step::Assign {
                    assignment,
                    discrete,
                } => {
                    let kind = if *discrete { "discrete" } else { "explicit" };
                    Some(Rows {
                        kind,
                        coefficients: None,
                        rows: vec![assigned(assignment)],
                    })
                }
                Step::Block(block) => {
                    let kind = match (block.discrete.is_empty(), block.linear) {
                        (true, true) => "linear",
                        (true, false) => "nonlinear",
                        (false, true) => "mixed linear",
                        (false, false) => "mixed nonlinear",
                    };
                    Some(Rows {
                        kind,
                        coefficients: block.linear.then(|| block.coefficients.name()),
                        rows: block_rows(block),
                    })
                }
                Step::Action { .. } => None,
            })
            .collect()
    }

    fn text(&self, row: &Row) -> String {
        let value = self.system.flat.text(row.value);
        if row.residual {
            format!("0 = {value}")
        } else {
            format!("{} := {value}", self.name(row.var))
        }
    }
}

impl Viewer<'_> {
    /// As pictures show it: what stands for a relation is called by it.
    fn short_name(&self, v: VarId) -> String {
        let variable = &self.system.flat.variables[v];
        match variable.description.as_str() {
            meant if variable.name.as_str().starts_with('$') && !meant.is_empty() => {
                meant.to_owned()
            }
            _ => self.name(v),
        }
    }

    fn short_text(&self, row: &Row) -> String {
        let value = self.system.flat.message_text(row.value);
        let name = self.short_name(row.var);
        if row.residual {
            format!("0 = {value}")
        } else if name == value {
            value
        } else {
            format!("{name} := {value}")
        }
    }
}

/// The structure as data.
pub(crate) fn structure_view(system: &StructuredSystem, sources: &SourceMap) -> StructureView {
    let viewer = Viewer { system, sources };
    let rows = viewer.rows();
    let mut is_unknown = vec![false; system.flat.variables.len()];
    for row in rows.iter().flat_map(|step| &step.rows) {
        is_unknown[row.var.index()] = true;
    }
    let equation = |row: &Row| {
        let (file, line) = viewer.place(row.origin);
        let read = system.flat.ir.variables_of(row.value).into_iter();
        EquationView {
            text: viewer.text(row),
            determines: Some(viewer.name(row.var)),
            residual: row.residual,
            reads: read
                .filter(|v| is_unknown[v.index()])
                .map(|v| viewer.name(v))
                .collect(),
            file,
            line,
        }
    };
    let blocks = (rows.iter())
        .map(|step| BlockView {
            kind: step.kind,
            coefficients: step.coefficients,
            torn: (step.rows.iter().filter(|row| row.residual))
                .map(|row| viewer.name(row.var))
                .collect(),
            equations: step.rows.iter().map(equation).collect(),
        })
        .collect();
    let states = (system.states.iter().zip(&system.state_reasons))
        .map(|(&(state, derivative), reason)| StateView {
            name: viewer.name(state),
            derivative: viewer.name(derivative),
            reason: reason.clone(),
        })
        .collect();
    let state_sets = (system.state_sets.iter())
        .map(|set| StateSetView {
            chosen: set.n_states,
            candidates: (set.levels.iter())
                .map(|(candidates, _)| candidates.iter().map(|&v| viewer.name(v)).collect())
                .collect(),
            constraints: (set.constraints.iter())
                .map(|&(residual, origin)| {
                    let (file, line) = viewer.place(origin);
                    EquationView {
                        text: format!("0 = {}", system.flat.text(residual)),
                        determines: None,
                        residual: true,
                        reads: Vec::new(),
                        file,
                        line,
                    }
                })
                .collect(),
        })
        .collect();
    let crossings = (system.crossings.iter())
        .map(|c| {
            let (file, line) = viewer.place(c.origin);
            CrossingView {
                relation: c.text.clone(),
                function: system.flat.text(c.function),
                class: match c.class {
                    saltus_structure::CrossingClass::Affine => "affine",
                    saltus_structure::CrossingClass::General => "general",
                },
                file,
                line,
            }
        })
        .collect();
    StructureView {
        model: system.flat.name.to_string(),
        n_equations: system.n_equations,
        n_unknowns: system.n_unknowns,
        states,
        state_sets,
        blocks,
        crossings,
    }
}

/// The structure as a picture.
pub(crate) fn structure_picture(
    system: &StructuredSystem,
    sources: &SourceMap,
) -> StructurePicture {
    let viewer = Viewer { system, sources };
    let rows = viewer.rows();
    let mut number = vec![usize::MAX; system.flat.variables.len()];
    for (k, row) in rows.iter().flat_map(|step| &step.rows).enumerate() {
        number[row.var.index()] = k;
    }
    let states = (system.states.iter().zip(&system.state_reasons))
        .map(|((state, _), reason)| format!("{}: {reason}", viewer.name(*state)))
        .collect();
    let crossings = (system.crossings.iter())
        .map(|c| format!("{}: {}", viewer.place(c.origin).1, c.text))
        .collect();
    let mut picture = StructurePicture {
        title: format!(
            "{}: {} equations, {} state{}",
            system.flat.name,
            system.n_equations,
            system.states.len(),
            if system.states.len() == 1 { "" } else { "s" }
        ),
        captions: ["as written", "sorted"].map(str::to_owned),
        notes: vec![
            ("states".to_owned(), states),
            ("crossing functions".to_owned(), crossings),
        ],
        ..StructurePicture::default()
    };
    for Rows { kind, rows, .. } in &rows {
        let first = picture.equations.len();
        for row in rows {
            let read = system.flat.ir.variables_of(row.value).into_iter();
            let mut reads: Vec<usize> = read
                .map(|v| number[v.index()])
                .filter(|&k| k != usize::MAX)
                .collect();
            reads.push(picture.equations.len());
            reads.sort_unstable();
            reads.dedup();
            let span = row.origin.span;
            let (_, line) = viewer.place(row.origin);
            picture.equations.push(PictureEquation {
                label: format!("{line}: {}", viewer.short_text(row)),
                residual: row.residual,
                reads,
                written: ((span.file.0 as usize) << 32) + span.start as usize,
            });
            picture.unknowns.push(PictureUnknown {
                name: viewer.short_name(row.var),
                torn: row.residual,
                written: row.var.index(),
            });
        }
        if !matches!(*kind, "explicit" | "discrete") {
            picture.blocks.push((first, picture.equations.len() - 1));
        }
    }
    picture
}

/// The Jacobians of a model: which derivatives depend on which states, and which residuals on which unknowns.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JacobianView {
    pub model: String,
    pub states: PatternView,
    /// Of the blocks that derivatives need.
    pub blocks: Vec<PatternView>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PatternView {
    pub linear: bool,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// For each column the rows that depend on it, ascending.
    pub pattern: Vec<Vec<u32>>,
    /// Columns of equal colour are computed together.
    pub colours: Vec<u32>,
    pub n_colours: usize,
}

impl PatternView {
    fn new(
        linear: bool,
        rows: Vec<String>,
        columns: Vec<String>,
        pattern: Option<&[Vec<u32>]>,
    ) -> PatternView {
        let full: Vec<u32> = (0..rows.len() as u32).collect();
        let pattern = pattern.map_or_else(|| vec![full; columns.len()], <[_]>::to_vec);
        let (colours, n_colours) =
            colour_columns(columns.len(), rows.len(), |j| pattern[j].as_slice());
        PatternView {
            linear,
            rows,
            columns,
            pattern,
            colours,
            n_colours,
        }
    }

    fn n_entries(&self) -> usize {
        self.pattern.iter().map(Vec::len).sum()
    }

    fn print(&self, out: &mut String) {
        for (column, (name, colour)) in self.columns.iter().zip(&self.colours).enumerate() {
            let rows = self.pattern[column].iter();
            let rows: Vec<&str> = rows.map(|r| self.rows[*r as usize].as_str()).collect();
            let _ = writeln!(out, "  {name} (colour {colour}): {}", rows.join(", "));
        }
    }

    /// The pattern as a picture.
    fn picture(&self, title: String) -> StructurePicture {
        let n = self.rows.len().max(self.columns.len());
        let mut reads: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (column, rows) in self.pattern.iter().enumerate() {
            rows.iter().for_each(|r| reads[*r as usize].push(column));
        }
        StructurePicture {
            title,
            equations: (reads.into_iter().enumerate())
                .map(|(k, reads)| PictureEquation {
                    label: self.rows.get(k).cloned().unwrap_or_default(),
                    residual: false,
                    reads,
                    written: k,
                })
                .collect(),
            unknowns: (0..n)
                .map(|k| PictureUnknown {
                    name: self.columns.get(k).cloned().unwrap_or_default(),
                    torn: false,
                    // Columns that are computed together stand together.
                    written: (self.colours.get(k).copied().unwrap_or(0) as usize) * n + k,
                })
                .collect(),
            blocks: Vec::new(),
            plain: true,
            captions: ["columns by colour", "by state"].map(str::to_owned),
            notes: Vec::new(),
        }
    }
}

impl JacobianView {
    pub(crate) fn new(info: &ModelInfo, system: &impl System) -> JacobianView {
        let name = |slot: saltus_model::Slot| info.slots[slot.index()].name.clone();
        let states = PatternView::new(
            false,
            (system.states().iter())
                .map(|s| name(s.derivative))
                .collect(),
            system.states().iter().map(|s| name(s.value)).collect(),
            system.state_pattern(),
        );
        let of_block = |id: BlockId| {
            let block = system.block(id);
            let text = |site: &saltus_model::Site| {
                (info.sites.get(site.0 as usize)).map_or_else(String::new, |s| s.text.clone())
            };
            PatternView::new(
                block.linear,
                block.residual_sites.iter().map(text).collect(),
                block.unknowns.iter().map(|s| name(*s)).collect(),
                block.pattern.as_deref(),
            )
        };
        let sections = system.schedule(ScheduleKind::Derivatives).iter();
        let blocks = sections.filter_map(|section| match section {
            Section::Linear(id) | Section::Nonlinear(id) | Section::Mixed(id) => {
                Some(of_block(*id))
            }
            Section::Explicit(_) => None,
        });
        JacobianView {
            model: info.name.clone(),
            blocks: blocks.collect(),
            states,
        }
    }

    pub fn to_json(&self) -> String {
        json(self)
    }

    /// As text.
    pub fn print(&self) -> String {
        let mut out = String::new();
        let view = &self.states;
        let n = view.columns.len();
        let _ = writeln!(
            out,
            "{}: state Jacobian {n} x {n}, {} entries, {} colours",
            self.model,
            view.n_entries(),
            view.n_colours
        );
        view.print(&mut out);
        for (k, view) in self.blocks.iter().enumerate() {
            let n = view.columns.len();
            let kind = if view.linear { "linear" } else { "nonlinear" };
            let _ = writeln!(
                out,
                "{kind} block {k}: {n} x {n}, {} entries, {} colours",
                view.n_entries(),
                view.n_colours
            );
            view.print(&mut out);
        }
        out
    }

    /// The state Jacobian as a picture: its columns by state, and by colour.
    pub fn picture(&self) -> StructurePicture {
        let view = &self.states;
        view.picture(format!(
            "{}: state Jacobian, {} entries, {} colours",
            self.model,
            view.n_entries(),
            view.n_colours
        ))
    }
}
