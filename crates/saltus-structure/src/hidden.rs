//! Constraints between states that only a sum of equations shows.
//!
//! The currents into a part of a circuit that nothing else connects add up to zero. Where they are those of inductors, one of them is no state, but no
//! single equation says so: i0 = Σ i/m beside Σ i = 0, or the sum of the current laws at all nodes of the part. Every such equation can be matched
//! with a branch current of its own, so Pantelides' algorithm finds nothing to differentiate, and the block of the branch currents is
//! singular at every instant. The same holds for the voltages of capacitors in a loop without a ground.
//!
//! Comes in: equations in representatives. Goes out: the same system, in which one equation of each such set is replaced by the combination in which
//! all but states and parameters cancel. Method: an equation is a sum of variables and of other terms (a product with a parameter, a function) with
//! integer factors. Equal terms are one column, whatever they are, so that the combination holds exactly and for any value of the parameters.
//! Equations with a column that no other one has cannot take part and are put aside, again and again. The rest is eliminated, without fractions, for all columns but
//! variables that are differentiated. A row of which only these remain is a constraint; it was hidden if the equations it is made of have a matching with variables that are
//! not differentiated. (Otherwise index reduction sees it by itself, and nothing is changed.) Known as the conversion of analytical to
//! structural singularity.

use crate::work::{Class, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_graph::maximum_matching;
use saltus_ir::{BinaryOp, Expr, ExprId, UnaryOp, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that grow longer are left out: what they show is then not found.
const ROW_MAX: usize = 400;
/// So are those with larger factors, which sums and differences do not make.
const FACTOR_MAX: i64 = 1 << 20;
/// Longer equations are left out.
const TERMS_MAX: usize = 400;

/// What is summed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Column {
    /// A variable that is differentiated: it may stay.
    State(VarId),
    /// A term in parameters: it may stay.
    Parameter(ExprId),
    /// An unknown that is not differentiated.
    Unknown(VarId),
    /// Any other term.
    Term(ExprId),
}

impl Column {
    fn must_cancel(self) -> bool {
        matches!(self, Column::Unknown(_) | Column::Term(_))
    }
}

/// A combination of equations: 0 = Σ factor·column.
#[derive(Clone, Default)]
struct Row {
    columns: BTreeMap<Column, i64>,
    /// Equations and their factors.
    made_of: BTreeMap<usize, i64>,
}

/// Replaces equations that hide a constraint between states; false if there are none.
pub(crate) fn expose_constraints(work: &mut Work) -> bool {
    let mut rows = rows_that_may_cancel(work);
    // Those that contain states last: they are the ones to be replaced.
    let contains_state =
        |row: &Row| (row.columns.keys()).any(|column| matches!(column, Column::State(_)));
    rows.sort_by_key(|(k, row)| (contains_state(row), *k));
    let mut occurrences: FxHashMap<Column, usize> = FxHashMap::default();
    for column in rows.iter().flat_map(|(_, row)| row.columns.keys()) {
        *occurrences.entry(*column).or_default() += 1;
    }
    let mut pivots: Vec<(Column, Row)> = Vec::new();
    let mut pivot_of: FxHashMap<Column, usize> = FxHashMap::default();
    let mut found: Vec<(usize, Row)> = Vec::new();
    for (k, row) in rows {
        let Some(row) = reduce(row, &pivots, &pivot_of) else {
            continue;
        };
        let pivot = (row.columns.iter())
            .filter(|(column, _)| column.must_cancel())
            .min_by_key(|(column, factor)| (factor.abs(), occurrences[column], **column));
        match pivot {
            Some((&column, _)) => {
                pivot_of.insert(column, pivots.len());
                pivots.push((column, row));
            }
            None if contains_state(&row) && is_matched(work, &row) => found.push((k, row)),
            None => {}
        }
    }
    for (k, row) in &found {
        let (lhs, rhs) = (row.expression(work), work.flat.ir.real(0.0));
        let eq = &mut work.equations[*k];
        (eq.lhs, eq.rhs) = (lhs, rhs);
    }
    !found.is_empty()
}

/// The equations as rows, without those that contain a column of their own that would have to cancel.
fn rows_that_may_cancel(work: &Work) -> Vec<(usize, Row)> {
    let mut rows: Vec<Option<(usize, Row)>> = (0..work.equations.len())
        .filter_map(|k| Some(Some((k, row_of(work, k)?))))
        .collect();
    let mut rows_with: FxHashMap<Column, Vec<usize>> = FxHashMap::default();
    for (i, row) in rows.iter().enumerate() {
        for column in
            (row.iter().flat_map(|(_, row)| row.columns.keys())).filter(|c| c.must_cancel())
        {
            rows_with.entry(*column).or_default().push(i);
        }
    }
    let mut left: FxHashMap<Column, usize> = (rows_with.iter())
        .map(|(column, of)| (*column, of.len()))
        .collect();
    let mut aside: Vec<usize> = (rows_with.values())
        .filter(|of| of.len() == 1)
        .map(|of| of[0])
        .collect();
    // Each row is put aside once at most.
    while let Some(i) = aside.pop() {
        let Some((_, row)) = rows[i].take() else {
            continue;
        };
        for column in row.columns.keys().filter(|c| c.must_cancel()) {
            let Some(count) = left.get_mut(column) else {
                unreachable!("every such column was counted");
            };
            *count -= 1;
            if *count == 1 {
                aside.extend(rows_with[column].iter().filter(|i| rows[**i].is_some()));
            }
        }
    }
    rows.into_iter().flatten().collect()
}

/// Takes the pivots out of a row. A pivot row contains no pivots of earlier ones, so they are taken in their order.
fn reduce(
    mut row: Row,
    pivots: &[(Column, Row)],
    pivot_of: &FxHashMap<Column, usize>,
) -> Option<Row> {
    let mut due: BTreeSet<usize> = (row.columns.keys())
        .filter_map(|column| pivot_of.get(column).copied())
        .collect();
    while let Some(p) = due.pop_first() {
        let (column, pivot) = &pivots[p];
        let Some(&own) = row.columns.get(column) else {
            continue;
        };
        row.subtract(own, pivot, pivot.columns[column])?;
        due.extend((pivot.columns.keys()).filter_map(|c| pivot_of.get(c).filter(|q| **q > p)));
    }
    Some(row)
}

impl Row {
    /// self·theirs - other·own, divided by what all have in common; `None` if it grows too large.
    fn subtract(&mut self, own: i64, other: &Row, theirs: i64) -> Option<()> {
        let common = gcd(own, theirs);
        let (own, theirs) = (own / common, theirs / common);
        combine(&mut self.columns, theirs, &other.columns, own)?;
        combine(&mut self.made_of, theirs, &other.made_of, own)?;
        let common = (self.columns.values().chain(self.made_of.values()))
            .fold(0, |common, factor| gcd(common, *factor))
            .max(1);
        (self.columns.values_mut().chain(self.made_of.values_mut())).for_each(|f| *f /= common);
        (self.columns.len().max(self.made_of.len()) <= ROW_MAX).then_some(())
    }

    fn expression(&self, work: &mut Work) -> ExprId {
        let common = (self.columns.values())
            .fold(0, |common, factor| gcd(common, *factor))
            .max(1);
        let mut sum = work.flat.ir.real(0.0);
        for (column, factor) in &self.columns {
            let column = match *column {
                Column::State(v) | Column::Unknown(v) => work.var(v),
                Column::Parameter(e) | Column::Term(e) => e,
            };
            let ir = &mut work.flat.ir;
            let size = ir.real((factor / common).abs() as f64);
            let term = ir.mul(size, column);
            sum = if *factor < 0 {
                ir.sub(sum, term)
            } else {
                ir.add_(sum, term)
            };
        }
        sum
    }
}

/// a·by - b·times
fn combine<K: Ord + Copy>(
    a: &mut BTreeMap<K, i64>,
    by: i64,
    b: &BTreeMap<K, i64>,
    times: i64,
) -> Option<()> {
    for factor in a.values_mut() {
        *factor = factor.checked_mul(by)?;
    }
    for (key, factor) in b {
        let entry = a.entry(*key).or_default();
        *entry = entry.checked_sub(factor.checked_mul(times)?)?;
    }
    a.retain(|_, factor| *factor != 0);
    (a.values().all(|factor| factor.abs() <= FACTOR_MAX)).then_some(())
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether each of the equations that a row is made of has a variable of its own that is not differentiated.
fn is_matched(work: &mut Work, row: &Row) -> bool {
    let mut number: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for &k in row.made_of.keys() {
        let sides = [work.equations[k].lhs, work.equations[k].rhs];
        let unknowns = (work.incidence(&sides).into_iter())
            .filter(|v| work.class(*v) == Class::Continuous && !work.der.contains_key(v));
        let numbers = unknowns.map(|v| {
            let next = number.len() as u32;
            *number.entry(v).or_insert(next)
        });
        rows.push(numbers.collect());
    }
    maximum_matching(&rows, number.len()).covers_rows()
}

/// The equation as a sum, if it holds at all times.
fn row_of(work: &Work, k: usize) -> Option<Row> {
    let eq = &work.equations[k];
    if eq.kind != Kind::Continuous || eq.initial.is_some() || eq.late.is_some() {
        return None;
    }
    let ir = &work.flat.ir;
    let mut row = Row::default();
    row.made_of.insert(k, 1);
    let mut stack = vec![(eq.lhs, 1i64), (eq.rhs, -1)];
    let mut terms = 0;
    while let Some((e, factor)) = stack.pop() {
        terms += 1;
        if terms > TERMS_MAX || factor.abs() > FACTOR_MAX {
            return None;
        }
        let column = match *ir.expr(e) {
            Expr::Unary(UnaryOp::Neg, a) => {
                stack.push((a, -factor));
                continue;
            }
            Expr::Binary(BinaryOp::Add, a, b) => {
                stack.extend([(a, factor), (b, factor)]);
                continue;
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                stack.extend([(a, factor), (b, -factor)]);
                continue;
            }
            Expr::Binary(BinaryOp::Mul, a, b) => match (integer(work, a), integer(work, b)) {
                (Some(i), _) => {
                    stack.push((b, factor * i));
                    continue;
                }
                (_, Some(i)) => {
                    stack.push((a, factor * i));
                    continue;
                }
                _ => other(work, e),
            },
            Expr::Var(v) if work.class(v) == Class::Continuous => {
                if work.der.contains_key(&v) {
                    Column::State(v)
                } else {
                    Column::Unknown(v)
                }
            }
            _ if ir.is_zero(e) => continue,
            _ => other(work, e),
        };
        *row.columns.entry(column).or_default() += factor;
    }
    row.columns.retain(|_, factor| *factor != 0);
    Some(row)
}

fn integer(work: &Work, e: ExprId) -> Option<i64> {
    let value = work.flat.ir.as_number(e)?;
    (value.fract() == 0.0 && value.abs() <= FACTOR_MAX as f64).then_some(value as i64)
}

fn other(work: &Work, e: ExprId) -> Column {
    let ir = &work.flat.ir;
    let constant = ir.reachable(&[e]).into_iter().all(|id| match ir.expr(id) {
        Expr::Var(v) => work.class(*v) == Class::Known,
        Expr::Real(_) | Expr::Integer(_) | Expr::Unary(..) | Expr::Binary(..) => true,
        _ => false,
    });
    if constant {
        Column::Parameter(e)
    } else {
        Column::Term(e)
    }
}
