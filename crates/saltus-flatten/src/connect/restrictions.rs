//! Restrictions on connectors themselves, whether connected or not (specification 9.3, 9.3.1, 9.1.3, 15.1).

use super::{Link, instances};
use crate::core::{Child, Flattener, InstId, Purpose, Res};
use rustc_hash::FxHashMap;
use saltus_ir::flat::Variability;
use saltus_syntax::ast::{ConnectionPrefix, Restriction};
use saltus_syntax::{Diagnostic, Name};

/// Connectors inside connectors, at most.
const DEPTH_MAX: u32 = 50;

/// Numbers of scalar variables in a connector.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    potential: usize,
    flow: usize,
    stream: usize,
}

/// Operators that a flow variable of an operator record needs, and the number of inputs.
const GROUP_OPERATORS: [(&str, usize, &str); 3] = [
    ("'+'", 2, "addition"),
    ("'-'", 1, "negation"),
    ("'0'", 0, "zero"),
];

impl<'a> Flattener<'a> {
    /// Checks all connectors of the model.
    pub(super) fn check_connectors(&mut self) -> Res<()> {
        let mut residues = FxHashMap::default();
        let mut groups = FxHashMap::default();
        for inst in self.insts.ids() {
            let node = &self.insts[inst];
            if node.purpose != Purpose::Component || node.parent.is_none() {
                continue;
            }
            let connection = node.prefixes.connection;
            let is_connector = node.restriction == Restriction::Connector;
            if connection == ConnectionPrefix::None && !is_connector || !self.is_part_of_model(inst)
            {
                continue;
            }
            if connection != ConnectionPrefix::None {
                self.check_place_of_prefix(inst, connection)?;
            }
            let node = &self.insts[inst];
            if node.restriction == Restriction::OperatorRecord
                && connection == ConnectionPrefix::Flow
            {
                self.check_group(inst, &mut groups)?;
            }
            let outermost = self.insts[inst]
                .parent
                .is_none_or(|parent| self.connector_of(parent).is_none());
            if is_connector && outermost {
                self.check_balance(inst, &mut residues)?;
            }
        }
        Ok(())
    }

    /// Every instance from the top down to this one is a component of the one before: it is not absent, nor only a pattern
    /// for the elements of an array.
    pub(super) fn is_part_of_model(&self, inst: InstId) -> bool {
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            let node = &self.insts[at];
            let linked = match self.insts[parent].children.get(&node.name) {
                Some(Child::Array { dims, elems }) => {
                    element(dims, &node.subs).is_some_and(|k| elems.get(k) == Some(&at))
                }
                Some(child) => instances(child).contains(&at),
                None => false,
            };
            if !linked {
                return false;
            }
            at = parent;
        }
        true
    }

    /// `flow` and `stream` stand in connectors, and not directly in expandable ones.
    pub(super) fn check_place_of_prefix(&self, inst: InstId, prefix: ConnectionPrefix) -> Res<()> {
        let word = if prefix == ConnectionPrefix::Flow {
            "flow"
        } else {
            "stream"
        };
        let path = self.insts[inst].path;
        let parent = self.insts[inst].parent;
        let message = if self.connector_of(inst).is_none() {
            format!("`{path}` has the prefix `{word}` but is not in a connector")
        } else if parent.is_some_and(|parent| self.is_expandable(parent)) {
            format!("`{path}` has the prefix `{word}` directly in an expandable connector")
        } else {
            return Ok(());
        };
        Err(Box::new(Diagnostic::error(
            "misplaced-prefix",
            self.insts[inst].span,
            message,
        )))
    }

    /// As many flow variables as potential variables, and one flow variable if there are stream variables.
    fn check_balance(
        &mut self,
        connector: InstId,
        residues: &mut FxHashMap<Name, usize>,
    ) -> Res<()> {
        let span = self.insts[connector].span;
        let path = self.insts[connector].path;
        if self.insts[connector].prefixes.variability <= Variability::Parameter {
            return Err(Box::new(Diagnostic::error(
                "parameter-connector",
                span,
                format!("the connector `{path}` is declared as parameter or constant"),
            )));
        }
        if self.insts[connector].builtin.is_some() {
            if self.insts[connector].prefixes.causality.is_some() {
                return Ok(());
            }
            return Err(Box::new(
                Diagnostic::error(
                    "unbalanced-connector",
                    span,
                    format!("the connector `{path}` is one variable, neither input nor output"),
                )
                .help("a connector has as many flow variables as potential variables"),
            ));
        }
        let mut count = Count::default();
        self.count_members(connector, residues, &mut count, 0)?;
        if count.stream > 0 && count.flow != 1 {
            return Err(self.wrong_stream_connector(connector, count.flow));
        }
        // Libraries have such connectors; what counts in the end is that the whole model has as many equations as unknowns.
        if count.potential != count.flow {
            self.report(Box::new(
                Diagnostic::warning(
                    "unbalanced-connector",
                    span,
                    format!(
                        "the connector `{path}` has {} flow variables and {} potential variables",
                        count.flow, count.potential
                    ),
                )
                .help("their numbers must be equal; inputs, outputs, stream variables and parameters do not count"),
            ));
        }
        Ok(())
    }

    fn count_members(
        &mut self,
        inst: InstId,
        residues: &mut FxHashMap<Name, usize>,
        count: &mut Count,
        depth: u32,
    ) -> Res<()> {
        if depth > DEPTH_MAX {
            return Ok(());
        }
        let span = self.insts[inst].span;
        for name in self.member_names(inst)? {
            let child = self.child(inst, name, span)?;
            for &member in instances(&child) {
                self.elaborate(member)?;
                let prefixes = self.insts[member].prefixes;
                if prefixes.variability <= Variability::Parameter {
                    continue;
                }
                if self.is_overdetermined(member) {
                    count.potential += self.n_residues(member, residues)?;
                    continue;
                }
                if self.insts[member].builtin.is_none() {
                    self.count_members(member, residues, count, depth + 1)?;
                    continue;
                }
                let n = self.component_dims(member)?.iter().product::<usize>();
                match prefixes.connection {
                    ConnectionPrefix::Flow => count.flow += n,
                    ConnectionPrefix::Stream => count.stream += n,
                    ConnectionPrefix::None if prefixes.causality.is_none() => count.potential += n,
                    ConnectionPrefix::None => {}
                }
            }
        }
        Ok(())
    }

    /// The number of results of `equalityConstraint`, by class.
    fn n_residues(&mut self, inst: InstId, residues: &mut FxHashMap<Name, usize>) -> Res<usize> {
        let class = self.insts[inst].class.name;
        if let Some(&n) = residues.get(&class) {
            return Ok(n);
        }
        let span = self.insts[inst].span;
        let function = self.equality_constraint(inst, span)?;
        let output = self.ir.functions[function].outputs.first().copied();
        let n = output
            .and_then(|output| self.ir.type_of_id(self.ir.locals[output].ty).known_dims())
            .map_or(0, |dims| dims.iter().product::<usize>());
        residues.insert(class, n);
        Ok(n)
    }

    /// A flow variable of an operator record is summed with the record's own operators.
    fn check_group(&mut self, inst: InstId, groups: &mut FxHashMap<Name, ()>) -> Res<()> {
        let class = self.insts[inst].class.name;
        if groups.insert(class, ()).is_some() {
            return Ok(());
        }
        let span = self.insts[inst].span;
        for (operator, n_inputs, word) in GROUP_OPERATORS {
            let functions = self.operator_functions(inst, operator, span)?;
            if !functions
                .iter()
                .any(|&f| self.ir.functions[f].inputs.len() == n_inputs)
            {
                return Err(Box::new(Diagnostic::error(
                    "missing-operator",
                    span,
                    format!(
                        "the flow variable `{}` needs {word} (`{operator}`) of `{class}`",
                        self.insts[inst].path
                    ),
                )));
            }
        }
        Ok(())
    }

    /// A reference in a connect is a connector of the class or of one of its components (specification 9.1).
    pub(super) fn check_form(&self, link: Link, inst: InstId) -> Res<()> {
        let restriction = self.insts[inst].restriction;
        let is_connector = matches!(
            restriction,
            Restriction::Connector | Restriction::ExpandableConnector
        );
        let path = self.insts[inst].path;
        if !is_connector && !self.within_expandable(inst) {
            return Err(Box::new(
                Diagnostic::error(
                    "not-a-connector",
                    link.span,
                    format!("`{path}` is not a connector"),
                )
                .secondary(self.insts[inst].span, "declared here"),
            ));
        }
        // Up to the first instance that is not a connector.
        let mut owner = self.insts[inst].parent;
        while let Some(at) = owner
            && self.connector_of(at) == Some(at)
        {
            owner = self.insts[at].parent;
        }
        let depth = |inst: InstId| self.insts[inst].depth;
        let below = owner.is_some_and(|owner| {
            depth(owner) > depth(link.within) + 1 && self.is_inside(owner, link.within)
        });
        if below {
            return Err(Box::new(
                Diagnostic::error(
                    "not-a-connector",
                    link.span,
                    format!("`{path}` is more than one component deep"),
                )
                .help("connect connectors of the class and of its components; pass others on by connectors of the component"),
            ));
        }
        Ok(())
    }

    fn is_inside(&self, inst: InstId, around: InstId) -> bool {
        let mut at = Some(inst);
        while let Some(here) = at {
            if here == around {
                return true;
            }
            at = self.insts[here].parent;
        }
        false
    }
}

/// Row-major position of subscripts from 1.
fn element(dims: &[usize], subs: &[u32]) -> Option<usize> {
    if dims.len() != subs.len() {
        return None;
    }
    dims.iter().zip(subs).try_fold(0, |position, (&dim, &sub)| {
        Some(position * dim + (sub as usize).checked_sub(1)?)
    })
}
