//! The real Schur form Zᵀ·H·Z = T of a Hessenberg matrix by the QR iteration with double shifts (Francis 1961).
//!
//! T is upper triangular but for blocks of two rows with a conjugate pair of eigenvalues, each in the standard form [a b; c a] with b·c < 0. A sweep drives
//! the bulge that the two shifts make down the diagonal (Golub and Van Loan, Matrix Computations, 7.5); the shifts are the eigenvalues of the last two rows, or
//! ad hoc ones after ten sweeps without success. A subdiagonal element counts as zero by the criterion of Ahues and Tisseur (1997), which keeps
//! small eigenvalues of graded matrices.

use super::complex::{Complex, real};
use super::dense::{Reflection, Rotation};
use crate::external::tables::Matrix;
use std::ops::Range;

/// Sweeps per eigenvalue: so many, times the larger of 10 and the number of rows (as in LAPACK); three are usual.
const SWEEPS_MAX: usize = 30;
/// Sweeps after which shifts are chosen otherwise, to break a cycle.
const SWEEPS_PATIENT: usize = 10;
/// The factors that LAPACK takes for those shifts.
const AD_HOC: (f64, f64) = (0.75, -0.4375);
/// Smallest normal number by the relative precision: below it products of differences say nothing.
const TINY: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Makes T of H in place and Z := Z·(the transformations). `active` are the rows that are not triangular yet. The error is LAPACK's `info`: the number of
/// leading rows whose eigenvalues are not found.
pub(super) fn schur(
    h: &mut Matrix,
    mut z: Option<&mut Matrix>,
    active: Range<usize>,
) -> Result<(), i64> {
    let n = h.rows;
    let (low, mut end) = (active.start, active.end);
    // What a reduction has left below the subdiagonal is not part of the matrix.
    for i in low + 2..end.max(low + 2) {
        for j in low..i - 1 {
            h[(i, j)] = 0.0;
        }
    }
    let limit = SWEEPS_MAX * active.len().max(10);
    let mut sweeps = 0;
    while end > low {
        let start = block_start(h, low, end);
        if start > low {
            h[(start, start - 1)] = 0.0;
        }
        match end - start {
            1 => {
                end -= 1;
                sweeps = 0;
            }
            2 => {
                standardise(h, z.as_deref_mut(), start);
                end -= 2;
                sweeps = 0;
            }
            _ if sweeps == limit => return Err(end as i64),
            _ => {
                sweeps += 1;
                let shifts = shifts(h, start, end, sweeps);
                sweep(h, z.as_deref_mut(), start, end, n, shifts);
            }
        }
    }
    Ok(())
}

/// First row of the last block without a negligible subdiagonal element.
fn block_start(h: &Matrix, low: usize, end: usize) -> usize {
    let smallest = TINY * h.rows as f64;
    let mut k = end - 1;
    while k > low {
        let sub = h.at(k, k - 1).abs();
        if sub <= smallest {
            break;
        }
        let mut near = h.at(k - 1, k - 1).abs() + h.at(k, k).abs();
        if near == 0.0 {
            if k >= low + 2 {
                near += h.at(k - 1, k - 2).abs();
            }
            if k + 1 < end {
                near += h.at(k + 1, k).abs();
            }
        }
        if sub <= f64::EPSILON * near {
            let above = h.at(k - 1, k).abs();
            let (large, small) = (sub.max(above), sub.min(above));
            let (a, gap) = (h.at(k, k).abs(), (h.at(k - 1, k - 1) - h.at(k, k)).abs());
            let (most, least) = (a.max(gap), a.min(gap));
            let sum = most + large;
            if small * (large / sum) <= smallest.max(f64::EPSILON * (least * (most / sum))) {
                break;
            }
        }
        k -= 1;
    }
    k
}

/// Two shifts, real or conjugate, for the rows from start to end.
fn shifts(h: &Matrix, start: usize, end: usize, sweeps: usize) -> [Complex; 2] {
    let ad_hoc = |corner: f64, size: f64| {
        let a = AD_HOC.0 * size + corner;
        [a, AD_HOC.1 * size, size, a]
    };
    let last = end - 1;
    let m = match sweeps % (2 * SWEEPS_PATIENT) {
        SWEEPS_PATIENT => ad_hoc(
            h.at(start, start),
            h.at(start + 1, start).abs() + h.at(start + 2, start + 1).abs(),
        ),
        0 => ad_hoc(
            h.at(last, last),
            h.at(last, last - 1).abs() + h.at(last - 1, last - 2).abs(),
        ),
        _ => [
            h.at(last - 1, last - 1),
            h.at(last - 1, last),
            h.at(last, last - 1),
            h.at(last, last),
        ],
    };
    let size: f64 = m.iter().map(|x| x.abs()).sum();
    if size == 0.0 {
        return [Complex::default(); 2];
    }
    let [a, b, c, d] = m.map(|x| x / size);
    let mean = (a + d) / 2.0;
    let square = (a - mean) * (d - mean) - b * c;
    let root = square.abs().sqrt();
    if square >= 0.0 {
        let one = Complex {
            re: mean * size,
            im: root * size,
        };
        return [one, one.conj()];
    }
    // Of two real ones, that nearer to the last diagonal element, twice.
    let (one, two) = (mean + root, mean - root);
    let nearer = if (one - d).abs() <= (two - d).abs() {
        one
    } else {
        two
    };
    [real(nearer * size); 2]
}

/// One sweep with two shifts over the rows from start to end.
fn sweep(
    h: &mut Matrix,
    mut z: Option<&mut Matrix>,
    start: usize,
    end: usize,
    n: usize,
    [one, two]: [Complex; 2],
) {
    // The first column of (H - one)·(H - two), from the last row where a bulge may begin without touching what is above.
    let column = |h: &Matrix, m: usize| {
        let (h21, h32) = (h.at(m + 1, m), h.at(m + 2, m + 1));
        let size = (h.at(m, m) - two.re).abs() + two.im.abs() + h21.abs();
        let part = h21 / size;
        let v = [
            part * h.at(m, m + 1) + (h.at(m, m) - one.re) * ((h.at(m, m) - two.re) / size)
                - one.im * (two.im / size),
            part * (h.at(m, m) + h.at(m + 1, m + 1) - one.re - two.re),
            part * h32,
        ];
        let size: f64 = v.iter().map(|x| x.abs()).sum();
        if size == 0.0 { v } else { v.map(|x| x / size) }
    };
    let mut first = end - 3;
    let mut v = column(h, first);
    while first > start {
        let above = h.at(first - 1, first - 1).abs();
        let here = h.at(first, first).abs();
        let below = h.at(first + 1, first + 1).abs();
        if h.at(first, first - 1).abs() * (v[1].abs() + v[2].abs())
            <= f64::EPSILON * v[0].abs() * (above + here + below)
        {
            break;
        }
        first -= 1;
        v = column(h, first);
    }
    for k in first..end - 1 {
        let rows = 3.min(end - k);
        if k > first {
            for (i, x) in v.iter_mut().enumerate().take(rows) {
                *x = h.at(k + i, k - 1);
            }
        }
        let (reflection, beta) = Reflection::onto_first(&v[..rows]);
        if k > first {
            h[(k, k - 1)] = beta;
            for i in 1..rows {
                h[(k + i, k - 1)] = 0.0;
            }
        } else if k > start {
            // Row k has one element left of the block, and it changes as the first of three does.
            h[(k, k - 1)] *= 1.0 - reflection.tau;
        }
        reflection.rows(h, k, k..n);
        reflection.columns(h, k, 0..end.min(k + 4));
        if let Some(z) = z.as_deref_mut() {
            let all = 0..z.rows;
            reflection.columns(z, k, all);
        }
    }
}

/// Brings rows k and k + 1 into standard form, with the rest of T and with Z.
pub(super) fn standardise(t: &mut Matrix, z: Option<&mut Matrix>, k: usize) {
    let n = t.rows;
    let block = [
        t.at(k, k),
        t.at(k, k + 1),
        t.at(k + 1, k),
        t.at(k + 1, k + 1),
    ];
    let (rotation, [a, b, c, d]) = standard_block(block);
    rotation.rows(t, k, k + 1, k + 2..n);
    rotation.columns(t, k, k + 1, 0..k);
    if let Some(z) = z {
        let all = 0..z.rows;
        rotation.columns(z, k, k + 1, all);
    }
    for (at, x) in [((0, 0), a), ((0, 1), b), ((1, 0), c), ((1, 1), d)] {
        t[(k + at.0, k + at.1)] = x;
    }
}

/// A root of the discriminant below so many times the precision is taken for a double eigenvalue at first.
const DOUBLE: f64 = 4.0 * f64::EPSILON;

/// The rotation R and the form R·[a b; c d]·Rᵀ with c = 0, or with a = d and b·c < 0 (Bai and Demmel 1993; LAPACK Users' Guide).
fn standard_block([a, b, c, d]: [f64; 4]) -> (Rotation, [f64; 4]) {
    let same = Rotation { c: 1.0, s: 0.0 };
    if c == 0.0 {
        return (same, [a, b, c, d]);
    }
    if b == 0.0 {
        return (Rotation { c: 0.0, s: 1.0 }, [d, -c, 0.0, a]);
    }
    if a == d && (b < 0.0) != (c < 0.0) {
        return (same, [a, b, c, d]);
    }
    let half = (a - d) / 2.0;
    let large = b.abs().max(c.abs());
    let small = b.abs().min(c.abs()).copysign(b) * 1f64.copysign(c);
    let size = half.abs().max(large);
    let square = half / size * half + large / size * small;
    if square >= DOUBLE * size {
        // Two real eigenvalues, apart.
        let z = half + (size.sqrt() * (square).sqrt()).copysign(half);
        let (rotation, _) = Rotation::onto_first(z, c);
        return (rotation, [d + z, b - c, 0.0, d - large / z * small]);
    }
    // Equal diagonal elements first.
    let sum = b + c;
    let tau = sum.hypot(a - d);
    let cs = ((1.0 + sum.abs() / tau) / 2.0).sqrt();
    let sn = -(half / (tau * cs)) * 1f64.copysign(sum);
    let (aa, bb, cc, dd) = (
        a * cs + b * sn,
        -a * sn + b * cs,
        c * cs + d * sn,
        -c * sn + d * cs,
    );
    let (a, b, c, d) = (
        aa * cs + cc * sn,
        bb * cs + dd * sn,
        -aa * sn + cc * cs,
        -bb * sn + dd * cs,
    );
    let mean = (a + d) / 2.0;
    if c == 0.0 {
        return (Rotation { c: cs, s: sn }, [mean, b, 0.0, mean]);
    }
    if b == 0.0 {
        return (Rotation { c: -sn, s: cs }, [mean, -c, 0.0, mean]);
    }
    if (b < 0.0) != (c < 0.0) {
        return (Rotation { c: cs, s: sn }, [mean, b, c, mean]);
    }
    // Two real ones after all, close together.
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let p = (root_b * root_c).copysign(c);
    let tau = 1.0 / (b + c).abs().sqrt();
    let (c1, s1) = (root_b * tau, root_c * tau);
    let rotation = Rotation {
        c: cs * c1 - sn * s1,
        s: cs * s1 + sn * c1,
    };
    (rotation, [mean + p, b - c, 0.0, mean - p])
}

/// The eigenvalues of a matrix in standardised Schur form, in the order of the diagonal; of a pair that with positive imaginary part first.
pub(super) fn eigenvalues(t: &Matrix) -> Vec<Complex> {
    let n = t.rows;
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let k = out.len();
        if k + 1 < n && t.at(k + 1, k) != 0.0 {
            let im = t.at(k, k + 1).abs().sqrt() * t.at(k + 1, k).abs().sqrt();
            let one = Complex { re: t.at(k, k), im };
            out.extend([one, one.conj()]);
        } else {
            out.push(real(t.at(k, k)));
        }
    }
    out
}

/// First row and number of rows of each diagonal block.
pub(super) fn blocks(t: &Matrix) -> Vec<Range<usize>> {
    let n = t.rows;
    let mut out = Vec::new();
    let mut k = 0;
    while k < n {
        let size = if k + 1 < n && t.at(k + 1, k) != 0.0 {
            2
        } else {
            1
        };
        out.push(k..k + size);
        k += size;
    }
    out
}
