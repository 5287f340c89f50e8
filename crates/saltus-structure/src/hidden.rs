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
//!
//! That is done twice. First a product with a parameter is a term like any other; then parameters are factors of columns, so that n*i[k] + j[k] = 0 and Σ j = 0 show that Σ i is zero (a winding
//! with n turns before the star point). Such a factor is an integer times powers of parameters; a sum of two with different powers is not followed up. The combination takes the
//! place of an equation of which it contains an integer multiple and the others multiples that are defined whatever the parameters are, so that no value of them takes a solution away or adds one.

use crate::work::{Class, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_graph::maximum_matching;
use saltus_ir::{BinaryOp, Expr, ExprId, UnaryOp, VarId};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

/// Rows that grow longer are left out: what they show is then not found.
const ROW_MAX: usize = 400;
/// So are those with larger factors, which sums and differences do not make.
const FACTOR_MAX: i64 = 1 << 20;
/// So are those with higher powers of parameters.
const POWER_MAX: i32 = 8;
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

/// What a product with a parameter is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Products {
    /// A column of its own.
    Terms,
    /// The column of the other factor.
    Factors,
}

/// `times`·Π parameter^power.
#[derive(Clone, PartialEq, Eq)]
struct Factor {
    times: i64,
    /// Numbers that are no integers are taken for parameters; no power is zero.
    powers: BTreeMap<ExprId, i32>,
}

impl Factor {
    fn integer(times: i64) -> Factor {
        Factor {
            times,
            powers: BTreeMap::new(),
        }
    }

    fn raise(&mut self, parameter: ExprId, power: i32) {
        let entry = self.powers.entry(parameter).or_default();
        *entry += power;
        if *entry == 0 {
            self.powers.remove(&parameter);
        }
    }

    /// self·by, or self/by as far as the powers go.
    fn scaled(&self, by: &Factor, sign: i32) -> Factor {
        let mut scaled = self.clone();
        for (parameter, power) in &by.powers {
            scaled.raise(*parameter, sign * power);
        }
        scaled
    }
}

/// A combination of equations: 0 = Σ factor·column.
#[derive(Clone, Default)]
struct Row {
    columns: BTreeMap<Column, Factor>,
    /// Equations and their factors.
    made_of: BTreeMap<usize, Factor>,
}

/// Replaces equations that hide a constraint between states; false if there are none.
pub(crate) fn expose_constraints(work: &mut Work) -> bool {
    let with_terms = expose(work, Products::Terms);
    expose(work, Products::Factors) || with_terms
}

fn expose(work: &mut Work, products: Products) -> bool {
    let mut rows = rows_that_reach_states(rows_that_may_cancel(work, products));
    // Those that contain states last: they are the ones to be replaced.
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
            .min_by_key(|(column, factor)| {
                let size = (factor.powers.len(), factor.times.abs());
                (size, occurrences[column], **column)
            });
        match pivot {
            Some((&column, _)) => {
                pivot_of.insert(column, pivots.len());
                pivots.push((column, row));
            }
            None if contains_state(&row) && is_matched(work, &row) => found.push((k, row)),
            None => {}
        }
    }
    let replaced: Vec<Option<usize>> = (0..found.len())
        .map(|i| replaced_by(work, &mut found, i))
        .collect();
    for (k, (_, row)) in replaced.iter().zip(&found) {
        if let Some(k) = *k {
            let (lhs, rhs) = (row.expression(work), work.flat.ir.real(0.0));
            let eq = &mut work.equations[k];
            (eq.lhs, eq.rhs) = (lhs, rhs);
        }
    }
    replaced.iter().any(Option::is_some)
}

/// The equation whose place a combination may take: its factor is an integer when those of the others have no negative powers of parameters. The one
/// that became the combination is in no other one; of the rest, those that are in no other one may be replaced.
fn replaced_by(work: &Work, found: &mut [(usize, Row)], i: usize) -> Option<usize> {
    let mut least = Factor::integer(1);
    for factor in found[i].1.made_of.values() {
        for (parameter, power) in &factor.powers {
            if *power < least.powers.get(parameter).copied().unwrap_or(0) {
                least.powers.insert(*parameter, *power);
            }
        }
    }
    let row = &mut found[i].1;
    for factor in (row.columns.values_mut()).chain(row.made_of.values_mut()) {
        *factor = factor.scaled(&least, -1);
    }
    let (own, row) = &found[i];
    let is_number = |e: &ExprId| work.flat.ir.as_number(*e).is_some();
    let may = |k: &usize| row.made_of[k].powers.keys().all(is_number);
    let alone = |k: &usize| {
        let mut others = found.iter().enumerate().filter(|(j, _)| *j != i);
        others.all(|(_, (_, other))| !other.made_of.contains_key(k))
    };
    let mut others = row.made_of.keys();
    Some(*own)
        .filter(|own| may(own))
        .or_else(|| others.find(|k| may(k) && alone(k)).copied())
}

/// The equations as rows, without those that contain a column of their own that would have to cancel.
fn rows_that_may_cancel(work: &Work, products: Products) -> Vec<(usize, Row)> {
    let mut rows: Vec<Option<(usize, Row)>> = (0..work.equations.len())
        .filter_map(|k| Some(Some((k, row_of(work, k, products)?))))
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

fn contains_state(row: &Row) -> bool {
    (row.columns.keys()).any(|column| matches!(column, Column::State(_)))
}

/// Rows that columns which would have to cancel connect with one that contains a state: all others combine among themselves only, and never show a constraint
/// between states.
fn rows_that_reach_states(rows: Vec<(usize, Row)>) -> Vec<(usize, Row)> {
    let mut rows_with: FxHashMap<Column, Vec<usize>> = FxHashMap::default();
    for (i, (_, row)) in rows.iter().enumerate() {
        for column in row.columns.keys().filter(|c| c.must_cancel()) {
            rows_with.entry(*column).or_default().push(i);
        }
    }
    let mut reached: Vec<bool> = rows.iter().map(|(_, row)| contains_state(row)).collect();
    let mut due: Vec<usize> = (0..rows.len()).filter(|&i| reached[i]).collect();
    while let Some(i) = due.pop() {
        for column in rows[i].1.columns.keys() {
            for next in rows_with.remove(column).unwrap_or_default() {
                if !std::mem::replace(&mut reached[next], true) {
                    due.push(next);
                }
            }
        }
    }
    (rows.into_iter().zip(reached))
        .filter_map(|(row, reached)| reached.then_some(row))
        .collect()
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
        let Some(own) = row.columns.get(column).cloned() else {
            continue;
        };
        row.subtract(&own, pivot, &pivot.columns[column])?;
        due.extend((pivot.columns.keys()).filter_map(|c| pivot_of.get(c).filter(|q| **q > p)));
    }
    Some(row)
}

impl Row {
    /// self - other·own/theirs, times an integer that leaves no fraction; `None` if it grows too large.
    fn subtract(&mut self, own: &Factor, other: &Row, theirs: &Factor) -> Option<()> {
        let common = gcd(own.times, theirs.times);
        let mut times = own.scaled(theirs, -1);
        times.times /= common;
        let by = theirs.times / common;
        combine(&mut self.columns, by, &other.columns, &times)?;
        combine(&mut self.made_of, by, &other.made_of, &times)?;
        let common = (self.columns.values().chain(self.made_of.values()))
            .fold(0, |common, factor| gcd(common, factor.times))
            .max(1);
        (self.columns.values_mut().chain(self.made_of.values_mut()))
            .for_each(|f| f.times /= common);
        (self.columns.len().max(self.made_of.len()) <= ROW_MAX).then_some(())
    }

    fn expression(&self, work: &mut Work) -> ExprId {
        let common = (self.columns.values())
            .fold(0, |common, factor| gcd(common, factor.times))
            .max(1);
        let mut sum = work.flat.ir.real(0.0);
        for (column, factor) in &self.columns {
            let column = match *column {
                Column::State(v) | Column::Unknown(v) => work.var(v),
                Column::Parameter(e) | Column::Term(e) => e,
            };
            let ir = &mut work.flat.ir;
            let mut size = ir.real((factor.times / common).abs() as f64);
            for (parameter, power) in &factor.powers {
                for _ in 0..power.abs() {
                    size = if *power < 0 {
                        ir.div(size, *parameter)
                    } else {
                        ir.mul(size, *parameter)
                    };
                }
            }
            let term = ir.mul(size, column);
            sum = if factor.times < 0 {
                ir.sub(sum, term)
            } else {
                ir.add_(sum, term)
            };
        }
        sum
    }
}

/// a·by - b·times; `None` if factors grow too large or are sums of different powers.
fn combine<K: Ord + Copy>(
    a: &mut BTreeMap<K, Factor>,
    by: i64,
    b: &BTreeMap<K, Factor>,
    times: &Factor,
) -> Option<()> {
    for factor in a.values_mut() {
        factor.times = factor.times.checked_mul(by)?;
    }
    for (key, factor) in b {
        let mut term = factor.scaled(times, 1);
        term.times = term.times.checked_mul(times.times)?.checked_neg()?;
        add(a, *key, term)?;
    }
    a.retain(|_, factor| factor.times != 0);
    let fits = |factor: &Factor| {
        factor.times.abs() <= FACTOR_MAX && factor.powers.values().all(|p| p.abs() <= POWER_MAX)
    };
    a.values().all(fits).then_some(())
}

/// `None` if the sum of the factors is none.
fn add<K: Ord>(sum: &mut BTreeMap<K, Factor>, key: K, factor: Factor) -> Option<()> {
    match sum.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(factor);
        }
        Entry::Occupied(mut entry) if entry.get().times == 0 => {
            entry.insert(factor);
        }
        Entry::Occupied(mut entry) => {
            let held = entry.get_mut();
            if held.powers != factor.powers {
                return None;
            }
            held.times = held.times.checked_add(factor.times)?;
        }
    }
    Some(())
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
fn row_of(work: &Work, k: usize, products: Products) -> Option<Row> {
    let eq = &work.equations[k];
    if eq.kind != Kind::Continuous || eq.initial.is_some() || eq.late.is_some() {
        return None;
    }
    let ir = &work.flat.ir;
    let mut row = Row::default();
    row.made_of.insert(k, Factor::integer(1));
    let mut stack = vec![(eq.lhs, Factor::integer(1)), (eq.rhs, Factor::integer(-1))];
    let mut terms = 0;
    while let Some((e, factor)) = stack.pop() {
        terms += 1;
        if terms > TERMS_MAX || factor.times.abs() > FACTOR_MAX {
            return None;
        }
        let negative = |factor: &Factor| Factor {
            times: -factor.times,
            ..factor.clone()
        };
        let column = match *ir.expr(e) {
            Expr::Unary(UnaryOp::Neg, a) => {
                stack.push((a, negative(&factor)));
                continue;
            }
            Expr::Binary(BinaryOp::Add, a, b) => {
                stack.extend([(a, factor.clone()), (b, factor)]);
                continue;
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                stack.extend([(a, factor.clone()), (b, negative(&factor))]);
                continue;
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                match multiplied(work, &factor, a, products).map(|factor| (b, factor)) {
                    Some(part) => stack.push(part),
                    None => match multiplied(work, &factor, b, products) {
                        Some(factor) => stack.push((a, factor)),
                        None => add(&mut row.columns, other(work, e), factor)?,
                    },
                }
                continue;
            }
            Expr::Binary(BinaryOp::Div, a, b)
                if products == Products::Factors
                    && is_constant(work, b)
                    && !is_constant(work, a) =>
            {
                let mut factor = factor;
                factor.raise(b, -1);
                stack.push((a, factor));
                continue;
            }
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
        add(&mut row.columns, column, factor)?;
    }
    row.columns.retain(|_, factor| factor.times != 0);
    Some(row)
}

/// `factor`·e, if e is a number or parameter that may be part of a factor.
fn multiplied(work: &Work, factor: &Factor, e: ExprId, products: Products) -> Option<Factor> {
    let mut factor = factor.clone();
    if let Some(times) = integer(work, e) {
        factor.times *= times;
        return Some(factor);
    }
    let is_factor = products == Products::Factors && is_constant(work, e);
    is_factor.then(|| {
        factor.raise(e, 1);
        factor
    })
}

fn integer(work: &Work, e: ExprId) -> Option<i64> {
    let value = work.flat.ir.as_number(e)?;
    (value.fract() == 0.0 && value.abs() <= FACTOR_MAX as f64).then_some(value as i64)
}

fn other(work: &Work, e: ExprId) -> Column {
    if is_constant(work, e) {
        Column::Parameter(e)
    } else {
        Column::Term(e)
    }
}

fn is_constant(work: &Work, e: ExprId) -> bool {
    let ir = &work.flat.ir;
    ir.reachable(&[e]).into_iter().all(|id| match ir.expr(id) {
        Expr::Var(v) => work.class(*v) == Class::Known,
        Expr::Real(_) | Expr::Integer(_) | Expr::Unary(..) | Expr::Binary(..) => true,
        _ => false,
    })
}
