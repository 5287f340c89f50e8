//! Growth of round-off in the inner assignments of a linear block.
//!
//! Inner assignments are an elimination whose pivots the structure chose: in a chain of equations x₁ = a·x₀, x₂ = b·x₁ - x₀, … an error of the
//! first unknown may double at every link, and after fifty links nothing is left of the last one. Comes in: the equations of a block, linear
//! in all its unknowns, and a tearing. Goes out: inner variables at which the chain is to be cut, by iterating upon them as well; and before
//! that, which coefficients are no pivots at all.
//!
//! Method: the coefficients are evaluated at start values and default parameters; where one is not known, half the size of the largest is
//! assumed after scaling, with any sign.
//! Rows and columns are scaled by turns to a largest element of one (Ruiz, A scaling algorithm to equilibrate both rows and columns
//! norms in matrices, RAL-TR-2001-034), so that units do not count. An error of ±1 in each unknown, and one of ±1 made by each
//! assignment, is carried through: e(x) = ±1 - Σ a(y)/a(x)·e(y), with its signs, so that a long chain whose links preserve sizes (rotations)
//! stays whole. Where |e(x)| exceeds [`GROWTH_MAX`], the variables that x is computed from and that carry most of it become unknowns, with an
//! error of ±1 again. The values are those of the
//! compiled model; during a run the linear solver watches the growth with the values as they are.

use crate::numeric::stated_value_at_start;
use crate::work::Work;
use rustc_hash::FxHashMap;
use saltus_graph::Tearing;
use saltus_ir::{BinaryOp, Expr, ExprId, UnaryOp, VarId};

/// Errors may grow by this factor: about a third of the digits of a number.
const GROWTH_MAX: f64 = 1e5;
/// Where the limit is exceeded, the chain is cut at the operands that carry more than this.
const GROWTH_CUT: f64 = 10.0;
/// Fewer assignments do not amplify much.
pub(crate) const INNER_MIN: usize = 12;
/// A coefficient below this many units of round-off of the largest in its equation is zero but for round-off: the cosine of a right angle between two
/// windings is half a unit, and a few products and sums of such add to it.
const VANISHING_ULPS: f64 = 64.0;
/// Sweeps of the scaling; each halves the logarithm of what is missing.
const SWEEPS: usize = 6;
/// Independent errors that are carried along.
const TRIALS: usize = 3;
/// Size of a coefficient that is not known, where the largest of its row is one.
const ASSUMED: f64 = 0.5;
/// A column that is iterated upon.
const NONE: usize = usize::MAX;

/// For each inner assignment of the tearing: is its variable to be iterated upon? `columns` gives the place of the block's variables.
pub(crate) fn cuts(
    work: &Work,
    sides: &[(ExprId, ExprId)],
    columns: &FxHashMap<VarId, u32>,
    tearing: &Tearing,
) -> Vec<bool> {
    let mut cut = vec![false; tearing.inner.len()];
    if tearing.inner.len() < INNER_MIN {
        return cut;
    }
    let mut rows = Vec::with_capacity(sides.len());
    for &(lhs, rhs) in sides {
        let Some(row) = coefficients(work, lhs, rhs, columns) else {
            return cut;
        };
        rows.push(row);
    }
    equilibrate(&mut rows);
    let mut signs = Signs(1);
    let mut errors: Vec<[f64; TRIALS]> = vec![[0.0; TRIALS]; rows.len()];
    for &c in &tearing.torn {
        errors[c as usize] = signs.next();
    }
    // Which inner assignment determines a column.
    let mut places = vec![NONE; rows.len()];
    for (place, &(r, c)) in tearing.inner.iter().enumerate() {
        places[c as usize] = place;
        let own = signs.next();
        let mut carried = carry(&rows[r as usize], c, own, &errors);
        if exceeds(&carried, GROWTH_MAX) {
            for &(column, _) in &rows[r as usize] {
                let column = column as usize;
                if column != c as usize && exceeds(&errors[column], GROWTH_CUT) {
                    cut[places[column]] = true;
                    errors[column] = signs.next();
                }
            }
            carried = carry(&rows[r as usize], c, own, &errors);
        }
        if exceeds(&carried, GROWTH_MAX) {
            cut[place] = true;
            carried = own;
        }
        errors[c as usize] = carried;
    }
    cut
}

/// Variables of the block for which an equation must not be solved, because their coefficient, at the values of the parameters as written and at start values, is
/// nothing but round-off of the others: the quotient would be noise.
pub(crate) fn vanishing(
    work: &Work,
    lhs: ExprId,
    rhs: ExprId,
    columns: &FxHashMap<VarId, u32>,
) -> Vec<u32> {
    let row = coefficients(work, lhs, rhs, columns).unwrap_or_default();
    let known = || row.iter().filter(|(_, a)| a.is_finite());
    let largest = known().fold(0.0f64, |largest, (_, a)| largest.max(a.abs()));
    known()
        .filter(|(_, a)| a.abs() < VANISHING_ULPS * f64::EPSILON * largest)
        .map(|(column, _)| *column)
        .collect()
}

/// The error of the variable that this row is solved for: its own and what the others bring.
fn carry(
    row: &[(u32, f64)],
    solved: u32,
    own: [f64; TRIALS],
    errors: &[[f64; TRIALS]],
) -> [f64; TRIALS] {
    let mut sum = [0.0; TRIALS];
    let mut pivot = 1.0;
    for &(column, a) in row {
        if column == solved {
            pivot = if a.is_nan() { 1.0 } else { a };
        } else {
            let a = if a.is_nan() { ASSUMED * own[0] } else { a };
            for (sum, error) in sum.iter_mut().zip(errors[column as usize]) {
                *sum += a * error;
            }
        }
    }
    std::array::from_fn(|k| own[k] - sum[k] / pivot)
}

/// Also if it is not a number.
fn exceeds(errors: &[f64; TRIALS], limit: f64) -> bool {
    !errors.iter().all(|e| e.abs() <= limit)
}

/// Signs that repeat after 2⁶⁴ - 1 calls (Marsaglia, Xorshift RNGs, J. Stat. Software 8 (2003) 14): the same in every compilation.
struct Signs(u64);

impl Signs {
    fn next(&mut self) -> [f64; TRIALS] {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        std::array::from_fn(|k| {
            if self.0 >> (8 * k) & 1 == 0 {
                1.0
            } else {
                -1.0
            }
        })
    }
}

/// Coefficients of the block's variables in `lhs - rhs`; NaN where the value is not known, `None` if it is not linear in them.
fn coefficients(
    work: &Work,
    lhs: ExprId,
    rhs: ExprId,
    columns: &FxHashMap<VarId, u32>,
) -> Option<Vec<(u32, f64)>> {
    let ir = &work.flat.ir;
    // Nodes that contain variables of the block.
    let mut forms: FxHashMap<ExprId, Vec<(u32, f64)>> = FxHashMap::default();
    let value = |e: ExprId| stated_value_at_start(work, e).unwrap_or(f64::NAN);
    for id in ir.reachable(&[lhs, rhs]) {
        let form = match *ir.expr(id) {
            Expr::Var(v) => match columns.get(&v) {
                Some(&column) => vec![(column, 1.0)],
                None => continue,
            },
            Expr::Unary(UnaryOp::Neg, a) => match forms.get(&a) {
                Some(a) => scaled(a, -1.0),
                None => continue,
            },
            Expr::Binary(op, a, b) => match (op, forms.get(&a), forms.get(&b)) {
                (_, None, None) => continue,
                (BinaryOp::Add | BinaryOp::Sub, Some(a), None) => a.clone(),
                (BinaryOp::Add, None, Some(b)) => b.clone(),
                (BinaryOp::Sub, None, Some(b)) => scaled(b, -1.0),
                (BinaryOp::Add, Some(a), Some(b)) => merged(a, b, |x, y| x + y),
                (BinaryOp::Sub, Some(a), Some(b)) => merged(a, &scaled(b, -1.0), |x, y| x + y),
                (BinaryOp::Mul, Some(f), None) => scaled(f, value(b)),
                (BinaryOp::Mul, None, Some(f)) => scaled(f, value(a)),
                (BinaryOp::Div, Some(f), None) => scaled(f, 1.0 / value(b)),
                _ => return None,
            },
            Expr::If(c, t, f) if !forms.contains_key(&c) => {
                let none = Vec::new();
                let (t, f) = (forms.get(&t), forms.get(&f));
                if t.is_none() && f.is_none() {
                    continue;
                }
                let larger = |x: f64, y: f64| if x.abs() < y.abs() { y } else { x };
                merged(t.unwrap_or(&none), f.unwrap_or(&none), larger)
            }
            _ => {
                let mut any = false;
                ir.for_each_child(id, |child| any |= forms.contains_key(&child));
                if any {
                    return None;
                }
                continue;
            }
        };
        forms.insert(id, form);
    }
    let none = Vec::new();
    let (lhs, rhs) = (forms.get(&lhs), forms.get(&rhs));
    let rhs = scaled(rhs.unwrap_or(&none), -1.0);
    Some(merged(lhs.unwrap_or(&none), &rhs, |x, y| x + y))
}

fn scaled(form: &[(u32, f64)], factor: f64) -> Vec<(u32, f64)> {
    form.iter().map(|&(c, a)| (c, a * factor)).collect()
}

/// The union of two forms, both sorted by column.
fn merged(
    a: &[(u32, f64)],
    b: &[(u32, f64)],
    combine: impl Fn(f64, f64) -> f64,
) -> Vec<(u32, f64)> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&(ca, xa)), Some(&&(cb, xb))) = (a.peek(), b.peek()) {
        let (column, value) = match ca.cmp(&cb) {
            std::cmp::Ordering::Less => (ca, xa),
            std::cmp::Ordering::Greater => (cb, xb),
            std::cmp::Ordering::Equal => (ca, combine(xa, xb)),
        };
        out.push((column, value));
        a.next_if(|e| e.0 <= column);
        b.next_if(|e| e.0 <= column);
    }
    out.extend(a.chain(b));
    out
}

/// Scales rows and columns by the square roots of their largest elements, by turns; numbers that are not known stay NaN.
fn equilibrate(rows: &mut [Vec<(u32, f64)>]) {
    let inverse_root = |largest: f64| {
        if largest > 0.0 && largest.is_finite() {
            1.0 / largest.sqrt()
        } else {
            1.0
        }
    };
    for (_, a) in rows.iter_mut().flatten() {
        if !a.is_finite() {
            *a = f64::NAN;
        }
    }
    for _ in 0..SWEEPS {
        let mut of_columns = vec![0.0f64; rows.len()];
        for row in rows.iter_mut() {
            let largest = row.iter().fold(0.0f64, |m, (_, a)| m.max(a.abs()));
            let scale = inverse_root(largest);
            for (column, a) in row {
                let of_column = &mut of_columns[*column as usize];
                *of_column = of_column.max(a.abs());
                *a *= scale;
            }
        }
        for (column, a) in rows.iter_mut().flatten() {
            *a *= inverse_root(of_columns[*column as usize]);
        }
    }
}
