//! Sparse LU with a fixed pattern: P R A Q = L U.
//!
//! R scales the rows by powers of two. Q and a preferred row for every column come from the pattern alone: a transversal, then an
//! approximate minimum degree order of the matrix with that diagonal (Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17
//! (1996) 886; crate `amd`), or the natural order where its envelope is no larger (banded matrices).
//!
//! The first factorisation is left-looking (Gilbert, Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862): for every column the
//! rows it can reach through the columns of L, in topological order, then a sparse triangular solve. The pivot is the preferred row
//! if it is at least [`PIVOT_SHARE`] of the largest, else the largest. Structural zeros that are numerically zero stay in the
//! pattern, so L and U hold every matrix with the same pattern and pivots.
//!
//! Later factorisations repeat the solves on the recorded pattern with the recorded pivots: no search, no allocation. The growth
//! max |a⁽ᵏ⁾| / max |a|, per column, is monitored; beyond [`GROWTH_MAX`], or with a pivot that is zero to working precision, the
//! pivots are chosen afresh.
//!
//! A grid of 200 × 200 points (2.1 million entries in L and U) takes 0.24 s of processor time the first time and 0.09 s later. The sparse LU of
//! `faer` would add two minutes to a clean build.

use super::matching::transversal;
use super::pattern::Pattern;
use super::scalar::{Scalar, inverse_power_of_two};
use crate::scale::{EPS, RANK_ULPS};

/// The preferred pivot is taken if it is at least this share of the largest candidate.
const PIVOT_SHARE: f64 = 0.1;

/// Growth of the elements beyond which recorded pivots are given up: it costs as many digits as it has.
pub(super) const GROWTH_MAX: f64 = 1e4;

/// The natural order is taken if its envelope is at most this multiple of the factors in the order of minimum degree: its memory
/// accesses are contiguous.
const ENVELOPE_MAX: f64 = 1.5;

const NONE: u32 = u32::MAX;

/// Work done by a [`SparseLu`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SparseStatistics {
    /// Factorisations that chose pivots.
    pub fresh: u64,
    /// Factorisations with recorded pivots.
    pub repeated: u64,
    /// Recorded pivots that were given up.
    pub given_up: u64,
    /// Entries of L and U without their diagonals.
    pub entries: usize,
}

/// A triangular factor without its diagonal, by columns, rows ascending in pivot numbering.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Factor<T> {
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<T>,
}

impl<T> Factor<T> {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.rows.clear();
        self.values.clear();
    }

    fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k] as usize..self.starts[k + 1] as usize
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SparseLu<T> {
    pattern: Pattern,
    /// Column at each pivot position and the row preferred for it; `None`: no transversal, always singular.
    order: Option<Order>,
    pivots: Pivots,
    /// Row at each pivot position, and the other way round.
    row_at: Vec<u32>,
    position_of: Vec<u32>,
    row_scale: Vec<f64>,
    lower: Factor<T>,
    upper: Factor<T>,
    /// 1/u_kk
    inverse: Vec<T>,
    /// A with its columns in pivot order: the place in the pattern and the pivot position of the row of each entry.
    places: Vec<u32>,
    positions: Vec<u32>,
    starts: Vec<u32>,
    /// One column, zero between uses.
    work: Vec<T>,
    /// Growth of the last factorisation that chose pivots.
    growth_fresh: f64,
    statistics: SparseStatistics,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Order {
    columns: Vec<u32>,
    preferred: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
enum Pivots {
    None,
    Recorded,
}

impl<T: Scalar> SparseLu<T> {
    pub fn new(pattern: &Pattern) -> SparseLu<T> {
        let n = pattern.n();
        SparseLu {
            pattern: pattern.clone(),
            order: order(pattern),
            pivots: Pivots::None,
            row_at: vec![0; n],
            position_of: vec![0; n],
            row_scale: vec![1.0; n],
            lower: Factor::default(),
            upper: Factor::default(),
            inverse: vec![T::ZERO; n],
            places: vec![0; pattern.len()],
            positions: vec![0; pattern.len()],
            starts: vec![0; n + 1],
            work: vec![T::ZERO; n],
            growth_fresh: 0.0,
            statistics: SparseStatistics::default(),
        }
    }

    pub fn statistics(&self) -> SparseStatistics {
        SparseStatistics {
            entries: self.lower.rows.len() + self.upper.rows.len(),
            ..self.statistics
        }
    }

    /// Factorises. False if the matrix is singular to working precision or not finite.
    pub fn factor(&mut self, values: &[T]) -> bool {
        if self.order.is_none() || !self.scale_rows(values) {
            return false;
        }
        if self.pivots == Pivots::Recorded {
            if self.repeat(values) {
                self.statistics.repeated += 1;
                return true;
            }
            self.statistics.given_up += 1;
            self.pivots = Pivots::None;
            self.work.fill(T::ZERO);
        }
        // Preferring the diagonal costs accuracy in rare cases, to the point of overflow: then the largest pivot is taken everywhere.
        let regular = match self.fresh(values, PIVOT_SHARE) {
            Some(growth) if growth <= GROWTH_MAX => Some(growth),
            Some(_) | None => self.fresh(values, 1.0),
        };
        if let Some(growth) = regular {
            self.growth_fresh = growth;
            self.statistics.fresh += 1;
            self.record();
            self.pivots = Pivots::Recorded;
        }
        regular.is_some()
    }

    /// Powers of two that bring the largest element of each row between 1 and 2.
    fn scale_rows(&mut self, values: &[T]) -> bool {
        self.row_scale.fill(0.0);
        for (row, value) in self.pattern.all_rows().iter().zip(values) {
            let largest = &mut self.row_scale[*row as usize];
            let size = value.size();
            if size > *largest {
                *largest = size;
            } else if size.is_nan() {
                return false;
            }
        }
        self.row_scale.iter_mut().all(|scale| {
            let usable = *scale > 0.0 && scale.is_finite();
            *scale = inverse_power_of_two(*scale);
            usable
        })
    }

    // --- first factorisation ----------------------------------------------------------------------------------------

    /// Chooses pivots; rows of L are numbered as in A until [`SparseLu::record`]. Gives the growth, or `None` if singular.
    fn fresh(&mut self, values: &[T], share: f64) -> Option<f64> {
        let n = self.pattern.n();
        let order = self.order.as_ref()?;
        self.position_of.fill(NONE);
        self.lower.clear();
        self.upper.clear();
        let mut reach = Reach::new(n);
        let mut growth = 0.0f64;
        for k in 0..n {
            let column = order.columns[k] as usize;
            let rows = self.pattern.rows(column);
            reach.find(rows, k as u32, &self.lower, &self.position_of);
            let mut largest_a = 0.0f64;
            for (row, value) in rows.iter().zip(&values[self.pattern.column(column)]) {
                let scaled = value.scaled(self.row_scale[*row as usize]);
                largest_a = largest_a.max(scaled.size());
                self.work[*row as usize] = scaled;
            }
            let mut largest_all = 0.0f64;
            for &row in reach.found() {
                let position = self.position_of[row as usize];
                if position == NONE {
                    continue;
                }
                let value = self.work[row as usize];
                self.work[row as usize] = T::ZERO;
                largest_all = largest_all.max(value.size());
                self.upper.rows.push(position);
                self.upper.values.push(value);
                if value != T::ZERO {
                    let range = self.lower.range(position as usize);
                    for (target, l) in
                        (self.lower.rows[range.clone()].iter()).zip(&self.lower.values[range])
                    {
                        self.work[*target as usize] -= *l * value;
                    }
                }
            }
            self.upper.starts.push(self.upper.rows.len() as u32);
            let preferred = order.preferred[k];
            let (mut pivot, mut largest) = (NONE, 0.0f64);
            for &row in reach.found() {
                if self.position_of[row as usize] == NONE {
                    let size = self.work[row as usize].size();
                    if size > largest || (size == largest && row == preferred) {
                        (pivot, largest) = (row, size);
                    } else if size.is_nan() {
                        largest = f64::NAN;
                        break;
                    }
                }
            }
            // Products with infinite or NaN elements and singular columns end here.
            let zero = RANK_ULPS * (reach.found().len() as f64) * EPS * largest_a;
            if pivot == NONE || !(largest > zero && largest.is_finite()) {
                self.work.fill(T::ZERO);
                return None;
            }
            growth = growth.max(largest_all.max(largest) / largest_a);
            let candidate = self.position_of[preferred as usize] == NONE
                && self.work[preferred as usize].size() >= share * largest;
            if candidate {
                pivot = preferred;
            }
            let inverse = T::ONE / self.work[pivot as usize];
            self.work[pivot as usize] = T::ZERO;
            self.inverse[k] = inverse;
            self.row_at[k] = pivot;
            self.position_of[pivot as usize] = k as u32;
            for &row in reach.found() {
                if self.position_of[row as usize] == NONE {
                    self.lower.rows.push(row);
                    self.lower.values.push(self.work[row as usize] * inverse);
                    self.work[row as usize] = T::ZERO;
                }
            }
            self.lower.starts.push(self.lower.rows.len() as u32);
            let above = self.upper.range(k);
            reach.prune(
                &self.upper.rows[above],
                pivot,
                &mut self.lower,
                &self.position_of,
            );
        }
        Some(growth)
    }

    /// Numbers the rows of L and A by pivot position and sorts the columns of both factors.
    fn record(&mut self) {
        let n = self.pattern.n();
        let order = self
            .order
            .as_ref()
            .expect("a factorised matrix has an order");
        for row in &mut self.lower.rows {
            *row = self.position_of[*row as usize];
        }
        let mut buffer = Vec::new();
        for factor in [&mut self.lower, &mut self.upper] {
            for k in 0..n {
                let range = factor.range(k);
                buffer.clear();
                buffer.extend(
                    (factor.rows[range.clone()].iter().copied())
                        .zip(factor.values[range.clone()].iter().copied()),
                );
                buffer.sort_unstable_by_key(|(row, _)| *row);
                for (place, (row, value)) in range.zip(&buffer) {
                    factor.rows[place] = *row;
                    factor.values[place] = *value;
                }
            }
        }
        let mut next = 0;
        for k in 0..n {
            let column = order.columns[k] as usize;
            self.starts[k] = next as u32;
            for (place, row) in self.pattern.column(column).zip(self.pattern.rows(column)) {
                self.places[next] = place as u32;
                self.positions[next] = self.position_of[*row as usize];
                next += 1;
            }
        }
        self.starts[n] = next as u32;
    }

    // --- later factorisations ---------------------------------------------------------------------------------------

    /// The same pattern and pivots with new values; false if the growth is too large or a pivot is zero.
    fn repeat(&mut self, values: &[T]) -> bool {
        let n = self.pattern.n();
        let growth_max = GROWTH_MAX.max(10.0 * self.growth_fresh);
        let work = &mut self.work[..];
        let (lower, upper) = (&mut self.lower, &mut self.upper);
        for k in 0..n {
            let range = self.starts[k] as usize..self.starts[k + 1] as usize;
            let mut largest_a = 0.0f64;
            for (place, position) in self.places[range.clone()]
                .iter()
                .zip(&self.positions[range])
            {
                let row = self.row_at[*position as usize];
                let scaled = values[*place as usize].scaled(self.row_scale[row as usize]);
                largest_a = largest_a.max(scaled.size());
                work[*position as usize] = scaled;
            }
            let mut largest = 0.0f64;
            let range = upper.range(k);
            for (position, target) in
                (upper.rows[range.clone()].iter()).zip(&mut upper.values[range.clone()])
            {
                let value = std::mem::take(&mut work[*position as usize]);
                *target = value;
                largest = largest.max(value.size());
                if value != T::ZERO {
                    let range = lower.range(*position as usize);
                    for (row, l) in lower.rows[range.clone()].iter().zip(&lower.values[range]) {
                        work[*row as usize] -= *l * value;
                    }
                }
            }
            let pivot = std::mem::take(&mut work[k]);
            let inverse = T::ONE / pivot;
            self.inverse[k] = inverse;
            let below = lower.range(k);
            let terms = range.len() + below.len() + 1;
            let zero = RANK_ULPS * terms as f64 * EPS * largest_a;
            largest = largest.max(pivot.size());
            for (row, target) in (lower.rows[below.clone()].iter()).zip(&mut lower.values[below]) {
                let value = std::mem::take(&mut work[*row as usize]);
                largest = largest.max(value.size());
                *target = value * inverse;
            }
            let usable = pivot.size() > zero && largest <= growth_max * largest_a;
            if !usable {
                return false;
            }
        }
        true
    }

    /// Replaces `b` by the solution. The matrix must have been found regular.
    pub fn solve(&mut self, b: &mut [T]) {
        let n = self.pattern.n();
        let Some(order) = &self.order else {
            return;
        };
        let work = &mut self.work[..];
        for (target, row) in work.iter_mut().zip(&self.row_at) {
            let row = *row as usize;
            *target = b[row].scaled(self.row_scale[row]);
        }
        for k in 0..n {
            let factor = work[k];
            if factor != T::ZERO {
                let range = self.lower.range(k);
                for (row, l) in
                    (self.lower.rows[range.clone()].iter()).zip(&self.lower.values[range])
                {
                    work[*row as usize] -= *l * factor;
                }
            }
        }
        for k in (0..n).rev() {
            let factor = work[k] * self.inverse[k];
            work[k] = T::ZERO;
            b[order.columns[k] as usize] = factor;
            if factor != T::ZERO {
                let range = self.upper.range(k);
                for (row, u) in
                    (self.upper.rows[range.clone()].iter()).zip(&self.upper.values[range])
                {
                    work[*row as usize] -= *u * factor;
                }
            }
        }
    }
}

/// Rows that a column reaches through the columns of L.
///
/// With symmetric pruning (Eisenstat, Liu, SIAM J. Matrix Anal. Appl. 13 (1992) 202): where both u_ij and l_ji exist, column i
/// of L need not be followed beyond the rows that were pivotal then, because j leads to the others.
struct Reach {
    /// Column of the last search that saw a row.
    seen: Vec<u32>,
    /// Rows found, a row before those it influences; filled from the end.
    found: Vec<u32>,
    first: usize,
    /// Where the part of each column of L that has to be followed ends, if it is shorter than the column.
    ends: Vec<u32>,
    /// Depth-first search: row, the next entry of its column of L and the end.
    stack: Vec<(u32, u32, u32)>,
}

impl Reach {
    fn new(n: usize) -> Reach {
        Reach {
            seen: vec![NONE; n],
            found: vec![0; n],
            first: n,
            ends: vec![NONE; n],
            stack: Vec::new(),
        }
    }

    fn found(&self) -> &[u32] {
        &self.found[self.first..]
    }

    fn find<T>(&mut self, rows: &[u32], k: u32, lower: &Factor<T>, position_of: &[u32]) {
        self.first = self.found.len();
        for &root in rows {
            if self.seen[root as usize] == k {
                continue;
            }
            self.enter(root, k, lower, position_of);
            while let Some((row, next, end)) = self.stack.last_mut() {
                if *next < *end {
                    let child = lower.rows[*next as usize];
                    *next += 1;
                    if self.seen[child as usize] != k {
                        self.enter(child, k, lower, position_of);
                    }
                } else {
                    self.first -= 1;
                    self.found[self.first] = *row;
                    self.stack.pop();
                }
            }
        }
    }

    fn enter<T>(&mut self, row: u32, k: u32, lower: &Factor<T>, position_of: &[u32]) {
        self.seen[row as usize] = k;
        let position = position_of[row as usize] as usize;
        let (next, end) = match lower.starts.get(position + 1) {
            Some(end) => (lower.starts[position], self.ends[position].min(*end)),
            // Not pivotal yet.
            None => (0, 0),
        };
        self.stack.push((row, next, end));
    }

    /// A column with these entries in U got the row `pivot`: shortens the columns of L that hold it.
    fn prune<T: Scalar>(
        &mut self,
        above: &[u32],
        pivot: u32,
        lower: &mut Factor<T>,
        position_of: &[u32],
    ) {
        for &position in above {
            let range = lower.range(position as usize);
            if self.ends[position as usize] != NONE || !lower.rows[range.clone()].contains(&pivot) {
                continue;
            }
            let mut end = range.start;
            for place in range {
                if position_of[lower.rows[place] as usize] != NONE {
                    lower.rows.swap(place, end);
                    lower.values.swap(place, end);
                    end += 1;
                }
            }
            self.ends[position as usize] = end as u32;
        }
    }
}

/// Column order and preferred pivot rows from the pattern.
fn order(pattern: &Pattern) -> Option<Order> {
    let n = pattern.n();
    let row_of = transversal(pattern)?;
    let mut column_of = vec![0; n];
    for (column, row) in row_of.iter().enumerate() {
        column_of[*row as usize] = column as i32;
    }
    let starts: Vec<i32> = pattern.starts().iter().map(|s| *s as i32).collect();
    let rows: Vec<i32> = (pattern.all_rows().iter())
        .map(|row| column_of[*row as usize])
        .collect();
    // The factors have at least the entries of the matrix, so that a narrow band needs no search for a better order.
    let envelope = envelope(&starts, &rows) as f64;
    let small = |entries: usize| envelope <= ENVELOPE_MAX * entries as f64;
    let natural = || (0..n as u32).collect::<Vec<u32>>();
    let columns = if small(rows.len()) {
        natural()
    } else {
        match amd::order(n as i32, &starts, &rows, &amd::Control::default()) {
            Ok((_, _, info)) if small(2 * info.lnz + n) => natural(),
            Ok((columns, _, _)) => columns.into_iter().map(|column| column as u32).collect(),
            // Only a malformed pattern is refused, and ours is not; the order is then merely worse.
            Err(_) => natural(),
        }
    };
    let preferred = columns.iter().map(|j| row_of[*j as usize]).collect();
    Some(Order { columns, preferred })
}

/// Entries of L and U if everything between the first entry of a row or column and the diagonal fills in.
fn envelope(starts: &[i32], rows: &[i32]) -> usize {
    let n = starts.len() - 1;
    let mut first_in_row: Vec<usize> = (0..n).collect();
    let mut total = n;
    for j in 0..n {
        let mut first = j;
        for row in &rows[starts[j] as usize..starts[j + 1] as usize] {
            let row = *row as usize;
            first = first.min(row);
            first_in_row[row] = first_in_row[row].min(j);
        }
        total += j - first;
    }
    total
        + first_in_row
            .iter()
            .enumerate()
            .map(|(i, first)| i - first)
            .sum::<usize>()
}
