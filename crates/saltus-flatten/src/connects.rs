//! Connect-equations and `Connections.…` operators: from references to pairs of connector elements.
//!
//! Comes in: the references of a connect and the scope it stands in. Goes out: entries of [`Sections::connects`],
//! [`Sections::pending_expandable`] and [`Sections::overconstrained`], arrays expanded element by element.

use crate::connect::PendingExpandable;
use crate::core::*;
use crate::equations::Cx;
use saltus_ir::Value;
use saltus_syntax::ast::{self, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};

/// Variable elements, their dimensions, and whether they belong to an outside connector.
type BuiltinEnd = (Vec<(InstId, u32)>, Vec<usize>, bool);

/// What one end of a connect refers to.
enum End {
    Elements {
        items: Vec<(InstId, u32)>,
        dims: Vec<usize>,
        outside: bool,
    },
    /// A component in the path is conditional and absent.
    Absent,
    /// A member that an expandable connector does not have yet.
    Pending {
        bus: InstId,
        members: Vec<(Name, Vec<u32>)>,
    },
}

impl<'a> Flattener<'a> {
    pub(crate) fn connections_operator(
        &mut self,
        cx: Cx<'_>,
        operator: &str,
        args: &'a ast::CallArgs,
        span: Span,
    ) -> Res<()> {
        let mut ends = Vec::new();
        let n_ends = if operator == "branch" { 2 } else { 1 };
        for arg in args.positional.iter().take(n_ends) {
            let ExprKind::Ref(r) = &arg.kind else { break };
            match self.graph_node(cx.scope, r)? {
                Some(node) => ends.push(node),
                None => return Ok(()),
            }
        }
        let fact = match (operator, ends.as_slice()) {
            ("root", [a]) => OverconstrainedFact::Root { inst: *a },
            ("potentialRoot", [a]) => {
                let priority_syntax = args
                    .positional
                    .get(1)
                    .or(args.named.first().map(|(_, e)| e));
                let priority = match priority_syntax {
                    Some(e) => {
                        let p = self.expr(cx.scope, e)?;
                        self.const_int(p, e.span)?
                    }
                    None => 0,
                };
                OverconstrainedFact::PotentialRoot { inst: *a, priority }
            }
            ("branch", [a, b]) => OverconstrainedFact::Branch { a: *a, b: *b },
            ("uniqueRoot", _) => return Ok(()),
            _ => {
                return Err(Box::new(Diagnostic::error(
                    "wrong-argument",
                    span,
                    format!(
                        "`Connections.{operator}` is not known, or its arguments are not connectors"
                    ),
                )));
            }
        };
        self.sections.overconstrained.push(fact);
        Ok(())
    }

    pub(crate) fn connect(
        &mut self,
        cx: Cx<'_>,
        a: &'a ast::ComponentRef,
        b: &'a ast::ComponentRef,
        equation: &'a ast::Equation,
    ) -> Res<()> {
        let end_a = self.connector_end(cx, a)?;
        let end_b = self.connector_end(cx, b)?;
        let span = equation.span;
        match (end_a, end_b) {
            (End::Absent, _) | (_, End::Absent) => Ok(()),
            (
                End::Elements {
                    items: xs,
                    outside: oa,
                    ..
                },
                End::Elements {
                    items: ys,
                    outside: ob,
                    ..
                },
            ) => {
                if xs.len() != ys.len() {
                    return Err(Box::new(
                        Diagnostic::error(
                            "array-size-mismatch",
                            span,
                            format!(
                                "connected arrays have different sizes: {} and {}",
                                xs.len(),
                                ys.len()
                            ),
                        )
                        .secondary(a.span, format!("{} elements", xs.len()))
                        .secondary(b.span, format!("{} elements", ys.len())),
                    ));
                }
                for (x, y) in xs.into_iter().zip(ys) {
                    self.sections.connects.push(Connect {
                        within: cx.inst,
                        a: ConnectorEnd {
                            inst: x.0,
                            offset: x.1,
                            outside: oa,
                        },
                        b: ConnectorEnd {
                            inst: y.0,
                            offset: y.1,
                            outside: ob,
                        },
                        syntax: equation,
                        span,
                    });
                }
                Ok(())
            }
            (
                End::Pending { bus, members },
                End::Elements {
                    items,
                    dims,
                    outside,
                },
            )
            | (
                End::Elements {
                    items,
                    dims,
                    outside,
                },
                End::Pending { bus, members },
            ) => {
                self.pending_connect(cx.inst, bus, members, &items, &dims, outside, span);
                Ok(())
            }
            (End::Pending { .. }, End::Pending { .. }) => Err(Box::new(
                Diagnostic::error(
                    "connector-mismatch",
                    span,
                    "both ends are undeclared members of expandable connectors",
                )
                .help(
                    "connect one of them with a declared connector, or declare it in the connector",
                ),
            )),
        }
    }

    fn pending_connect(
        &mut self,
        within: InstId,
        bus: InstId,
        members: Vec<(Name, Vec<u32>)>,
        items: &[(InstId, u32)],
        dims: &[usize],
        outside: bool,
        span: Span,
    ) {
        let member: Vec<Name> = members.iter().map(|(n, _)| *n).collect();
        let subs = members.last().map(|(_, s)| s.clone()).unwrap_or_default();
        let Some(&(inst, offset)) = items.first() else {
            return;
        };
        let builtin = self.insts[inst].builtin.is_some();
        let whole = builtin && !dims.is_empty();
        if builtin || items.len() == 1 {
            let other = ConnectorEnd {
                inst,
                offset,
                outside,
            };
            self.sections.pending_expandable.push(PendingExpandable {
                within,
                bus,
                member,
                subs,
                other,
                whole,
                span,
            });
            return;
        }
        for (k, &(inst, offset)) in items.iter().enumerate() {
            let other = ConnectorEnd {
                inst,
                offset,
                outside,
            };
            let subs = subs.iter().copied().chain([k as u32 + 1]).collect();
            self.sections.pending_expandable.push(PendingExpandable {
                within,
                bus,
                member: member.clone(),
                subs,
                other,
                whole,
                span,
            });
        }
    }

    /// The component that an operator on the connection graph names (specification 9.4.1): an overdetermined record, or an array
    /// of an overdetermined type as a whole, which may have no elements. `None` if it is absent, or no member of its bus.
    pub(crate) fn graph_node(
        &mut self,
        scope: Scope<'_>,
        r: &'a ast::ComponentRef,
    ) -> Res<Option<InstId>> {
        let first = &r.parts[0];
        let Some(Found::Component { owner, name }) = self.lookup(scope, &first.name)? else {
            return Err(self.not_a_component(scope, &first.name));
        };
        let mut at = owner;
        for (k, part) in r.parts.iter().enumerate() {
            let name = if k == 0 { name } else { part.name.name };
            self.elaborate(at)?;
            let is_bus = self.insts[at].restriction == ast::Restriction::ExpandableConnector;
            let known = self.insts[at].children.contains_key(&name)
                || self.insts[at].elements.contains_key(&name);
            if k > 0 && is_bus && !known {
                return Ok(None);
            }
            at = match self.child(at, name, part.name.span)? {
                Child::Absent => return Ok(None),
                Child::One(c) | Child::Outer(c) if part.subscripts.is_empty() => c,
                Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                    match self.select(scope, part, &dims)?.1[..] {
                        [one] => elems[one],
                        _ => return Err(not_one_connector(r.span)),
                    }
                }
                _ => return Err(not_one_connector(r.span)),
            };
        }
        Ok(Some(at))
    }

    fn not_a_component(&self, scope: Scope<'_>, ident: &ast::Ident) -> Box<Diagnostic> {
        let candidates = self.visible_names(scope.lex);
        let diagnostic = Diagnostic::error(
            "unknown-name",
            ident.span,
            format!("`{}` is not a component here", ident.name),
        );
        Box::new(match crate::lookup::suggest(ident.name, &candidates) {
            Some(s) => diagnostic.help(format!("did you mean `{s}`?")),
            None => diagnostic,
        })
    }

    fn connector_end(&mut self, cx: Cx<'_>, r: &'a ast::ComponentRef) -> Res<End> {
        let first = &r.parts[0];
        let found = self.lookup(cx.scope, &first.name)?;
        let Some(Found::Component { owner, name }) = found else {
            return Err(self.not_a_component(cx.scope, &first.name));
        };
        let mut items: Vec<InstId> = Vec::new();
        let mut dims: Vec<usize> = Vec::new();
        let mut outside = false;
        let mut owners = vec![owner];
        for (k, part) in r.parts.iter().enumerate() {
            let mut next = Vec::new();
            let mut part_dims: Option<Vec<usize>> = None;
            let mut variables: Option<(Vec<(InstId, u32)>, bool)> = None;
            for inst in &owners {
                let part_name = if k == 0 { name } else { part.name.name };
                if k > 0 && self.insts[*inst].restriction == ast::Restriction::ExpandableConnector {
                    self.elaborate(*inst)?;
                    let known = self.insts[*inst].children.contains_key(&part_name)
                        || self.insts[*inst].elements.contains_key(&part_name);
                    if !known {
                        return self.pending_end(cx, *inst, &r.parts[k..]);
                    }
                }
                let child = self.child(*inst, part_name, part.name.span)?;
                match child {
                    Child::Absent => return Ok(End::Absent),
                    Child::One(c) | Child::Outer(c) => {
                        if self.insts[c].builtin.is_some() {
                            let is_last = k + 1 == r.parts.len();
                            let (elements, d, is_outside) =
                                self.builtin_end(cx, c, part, is_last, outside || k == 0, r.span)?;
                            variables
                                .get_or_insert((Vec::new(), is_outside))
                                .0
                                .extend(elements);
                            part_dims = Some(d);
                            continue;
                        }
                        if !part.subscripts.is_empty() {
                            return Err(Box::new(Diagnostic::error(
                                "array-size-mismatch",
                                part.name.span,
                                format!("`{part_name}` is not an array"),
                            )));
                        }
                        next.push(c);
                    }
                    Child::Array { dims: d, elems } | Child::OuterArray { dims: d, elems } => {
                        let (chosen_dims, chosen) = self.select(cx.scope, part, &d)?;
                        next.extend(chosen.iter().map(|i| elems[*i]));
                        part_dims = Some(chosen_dims);
                    }
                    Child::Class(_) | Child::InProgress => {
                        return Err(Box::new(Diagnostic::error(
                            "unknown-name",
                            part.name.span,
                            format!("`{part_name}` is not a component"),
                        )));
                    }
                }
            }
            dims.extend(part_dims.unwrap_or_default());
            if let Some((items, outside)) = variables {
                return Ok(End::Elements {
                    items,
                    dims,
                    outside,
                });
            }
            if k == 0
                && let Some(&c) = next.first()
            {
                outside = matches!(
                    self.insts[c].restriction,
                    ast::Restriction::Connector | ast::Restriction::ExpandableConnector
                ) && self.insts[c].parent == Some(cx.inst);
            }
            owners = next;
            items = owners.clone();
            if items.is_empty() {
                return Ok(End::Elements {
                    items: Vec::new(),
                    dims,
                    outside,
                });
            }
        }
        Ok(End::Elements {
            items: items.into_iter().map(|i| (i, 0)).collect(),
            dims,
            outside,
        })
    }

    /// A builtin-typed connector (`RealInput u[3]`) or a variable inside a connector.
    fn builtin_end(
        &mut self,
        cx: Cx<'_>,
        inst: InstId,
        part: &'a ast::RefPart,
        is_last: bool,
        outside: bool,
        span: Span,
    ) -> Res<BuiltinEnd> {
        if !is_last {
            return Err(Box::new(Diagnostic::error(
                "unknown-name",
                span,
                format!("`{}` has no elements", self.insts[inst].path),
            )));
        }
        let outside = outside
            && (self.insts[inst].parent == Some(cx.inst)
                || self.declarer_of_connector(inst) == Some(cx.inst));
        // No variable is made yet: the other end of the connect may be absent.
        let all = self.component_dims(inst)?;
        let (dims, chosen) = self.select(cx.scope, part, &all)?;
        Ok((
            chosen.into_iter().map(|k| (inst, k as u32)).collect(),
            dims,
            outside,
        ))
    }

    /// The instance that declares the outermost connector around `inst`.
    fn declarer_of_connector(&self, inst: InstId) -> Option<InstId> {
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            if !matches!(
                self.insts[parent].restriction,
                ast::Restriction::Connector
                    | ast::Restriction::ExpandableConnector
                    | ast::Restriction::Record
            ) {
                return Some(parent);
            }
            at = parent;
        }
        None
    }

    /// Elements chosen by constant subscripts, as row-major positions, with the dimensions that remain.
    fn select(
        &mut self,
        scope: Scope<'_>,
        part: &'a ast::RefPart,
        dims: &[usize],
    ) -> Res<(Vec<usize>, Vec<usize>)> {
        if part.subscripts.len() > dims.len() {
            return Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                part.name.span,
                format!(
                    "`{}` has {} dimensions, {} subscripts are given",
                    part.name.name,
                    dims.len(),
                    part.subscripts.len()
                ),
            )));
        }
        let mut chosen: Vec<usize> = vec![0];
        let mut left = Vec::new();
        for (k, dim) in dims.iter().enumerate() {
            let indices: Vec<usize> = match part.subscripts.get(k) {
                None | Some(ast::Subscript::All(_)) => {
                    left.push(*dim);
                    (0..*dim).collect()
                }
                Some(ast::Subscript::Expr(e)) => {
                    let value = self.connector_subscript(scope, e, *dim)?;
                    let list = match &value {
                        Value::Array(a) => {
                            left.push(a.elems.len());
                            a.elems.clone()
                        }
                        one => vec![one.clone()],
                    };
                    let mut out = Vec::new();
                    for v in list {
                        let shift = i64::from(matches!(v, Value::Boolean(_)));
                        match v.as_i64().map(|i| i + shift) {
                            Some(i) if i >= 1 && i as usize <= *dim => out.push(i as usize - 1),
                            _ => {
                                return Err(Box::new(Diagnostic::error(
                                    "array-size-mismatch",
                                    e.span,
                                    format!(
                                        "subscript {} is outside 1:{dim} of `{}`",
                                        v.as_f64().map_or("?".into(), |x| x.to_string()),
                                        part.name.name
                                    ),
                                )));
                            }
                        }
                    }
                    out
                }
            };
            chosen = chosen
                .iter()
                .flat_map(|base| indices.iter().map(move |i| base * dim + i))
                .collect();
        }
        Ok((left, chosen))
    }

    fn connector_subscript(
        &mut self,
        scope: Scope<'_>,
        e: &'a ast::Expr,
        dim: usize,
    ) -> Res<Value> {
        let end = Some(self.ir.integer(dim as i64));
        let typed = self.ex(
            crate::typing::Cx {
                end,
                ..crate::typing::Cx::new(scope)
            },
            e,
        )?;
        self.const_eval(typed, e.span)
    }

    fn pending_end(&mut self, cx: Cx<'_>, bus: InstId, parts: &'a [ast::RefPart]) -> Res<End> {
        let mut members = Vec::new();
        for part in parts {
            let mut subs = Vec::new();
            for s in &part.subscripts {
                if let ast::Subscript::Expr(e) = s {
                    let typed = self.expr(cx.scope, e)?;
                    subs.push(self.const_int(typed, e.span)? as u32);
                }
            }
            members.push((part.name.name, subs));
        }
        Ok(End::Pending { bus, members })
    }
}

fn not_one_connector(span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        "wrong-argument",
        span,
        "one overdetermined record, or an array of an overdetermined type as a whole, is expected here",
    ))
}
