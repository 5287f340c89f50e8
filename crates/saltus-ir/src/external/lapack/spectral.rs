//! Calls of LAPACK for eigenvalues, Schur forms and Sylvester equations; the order of arguments stands above each.

use super::balance::{Balance, balance};
use super::complex::Complex;
use super::dense::{identity, max_abs, norm_one, part, product};
use super::hessenberg;
use super::pencil::{self, Pencil};
use super::vectors::{self, Ratio};
use super::{equations::side, is, reorder, schur, square, sylvester};
use crate::Value;
use crate::external::tables::Matrix;
use crate::external::{Args, Reply, matrix_value, reals};
use std::ops::Range;

/// Elements beyond this, or all below its inverse, are scaled before an iteration: products of two of them then stay in range.
const IN_RANGE: f64 = 1e140;

pub(super) fn eigenvalues(m: &Matrix) -> Option<Vec<(f64, f64)>> {
    if m.rows == 0 {
        return Some(Vec::new());
    }
    let form = Form::of(m, true);
    let pairs = || form.eigenvalues().into_iter().map(|z| (z.re, z.im));
    (form.info == 0).then(|| pairs().collect())
}

pub(super) fn pencil_eigenvalues(a: &Matrix, b: &Matrix) -> Option<Vec<((f64, f64), f64)>> {
    let (a, factor_a) = in_range(a);
    let (b, factor_b) = in_range(b);
    let mut pencil = pencil::reduce(&a, &b);
    pencil.iterate(0..a.rows).ok()?;
    let ratios = pencil.eigenvalues().into_iter();
    Some(
        ratios
            .map(|r| {
                let alpha = r.alpha.scaled(factor_a);
                ((alpha.re, alpha.im), r.beta * factor_b)
            })
            .collect(),
    )
}

pub(super) fn call(name: &str, a: &Args) -> Result<Option<Reply>, String> {
    Ok(Some(match name {
        // n, ilo, ihi, a, lda, tau, work, lwork, info
        "dgehrd" => {
            let m = a.matrix(3)?;
            square(name, &m)?;
            let reduced = hessenberg::reduce(&m, active(a, 1, m.rows)?);
            Reply::written(vec![
                (3, a.shaped(3, &reduced.factors)),
                (5, reals(&reduced.tau)),
                (8, Value::Integer(0)),
            ])
        }
        // n, ilo, ihi, a, lda, tau, work, lwork, info
        "dorghr" => {
            let (m, tau) = (a.matrix(3)?, a.matrix(5)?.data);
            square(name, &m)?;
            enough(name, tau.len() + 1 >= m.rows)?;
            let q = hessenberg::q(&m, &tau, active(a, 1, m.rows)?);
            Reply::written(vec![(3, a.shaped(3, &q)), (8, Value::Integer(0))])
        }
        // side, trans, m, n, ilo, ihi, a, lda, tau, c, ldc, work, lwork, info
        "dormhr" => {
            let (m, tau, mut c) = (a.matrix(6)?, a.matrix(8)?.data, a.matrix(9)?);
            let side = side(a, 0)?;
            let length = match side {
                hessenberg::Side::Left => c.rows,
                hessenberg::Side::Right => c.columns,
            };
            square(name, &m)?;
            enough(name, m.rows == length && tau.len() + 1 >= length)?;
            let active = active(a, 4, length)?;
            hessenberg::apply(&m, &tau, active, side, !is(a, 1, "n")?, &mut c);
            Reply::written(vec![(9, a.shaped(9, &c)), (13, Value::Integer(0))])
        }
        // job, compz, n, ilo, ihi, h, ldh, wr, wi, z, ldz, work, lwork, info
        "dhseqr" => {
            let mut t = a.matrix(5)?;
            square(name, &t)?;
            let n = t.rows;
            let mut z = match (is(a, 1, "n")?, is(a, 1, "i")?) {
                (true, _) => None,
                (_, true) => Some(identity(n)),
                _ => Some(a.matrix(9)?),
            };
            if let Some(z) = &z {
                enough(name, z.columns == n)?;
            }
            let info = schur::schur(&mut t, z.as_mut(), active(a, 3, n)?);
            let mut written = vec![(5, a.shaped(5, &t)), (13, info_of(info))];
            written.extend(parts(&schur::eigenvalues(&t), 7, 8));
            written.extend(z.map(|z| (9, matrix_value(&z))));
            Reply::written(written)
        }
        // jobvs, sort, select, n, a, lda, sdim, wr, wi, vs, ldvs, work, lwork, bwork, info
        "dgees" => {
            let m = a.matrix(4)?;
            square(name, &m)?;
            if !is(a, 1, "n")? {
                return Err(format!("`{name}` is here without sorting only"));
            }
            let form = Form::of(&m, false);
            let mut written = vec![
                (4, a.shaped(4, &form.t)),
                (6, Value::Integer(0)),
                (14, Value::Integer(form.info)),
            ];
            written.extend(parts(&form.eigenvalues(), 7, 8));
            if is(a, 0, "v")? {
                written.push((9, matrix_value(&form.z)));
            }
            Reply::written(written)
        }
        // jobvl, jobvr, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info
        "dgeev" => {
            let m = a.matrix(3)?;
            square(name, &m)?;
            let form = Form::of(&m, true);
            let mut written = vec![(13, Value::Integer(form.info))];
            written.extend(parts(&form.eigenvalues(), 5, 6));
            if form.info == 0 {
                if is(a, 0, "v")? {
                    written.push((7, matrix_value(&form.left())));
                }
                if is(a, 1, "v")? {
                    written.push((9, matrix_value(&form.right())));
                }
            }
            Reply::written(written)
        }
        // balanc, jobvl, jobvr, sense, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, ilo, ihi, scale, abnrm, rconde, rcondv, work, lwork, iwork, info
        "dgeevx" => {
            let m = a.matrix(5)?;
            square(name, &m)?;
            let form = Form::of(&m, !is(a, 0, "n")?);
            let eigenvalues = form.eigenvalues();
            let mut written = vec![
                (5, a.shaped(5, &form.t)),
                (13, Value::Integer(form.balance.active.start as i64 + 1)),
                (14, Value::Integer(form.balance.active.end as i64)),
                (15, reals(&form.balance.details())),
                (16, Value::Real(form.norm)),
                (22, Value::Integer(form.info)),
            ];
            written.extend(parts(&eigenvalues, 7, 8));
            if form.info == 0 {
                let (left, right) = (form.left(), form.right());
                written.push((17, reals(&angles(&left, &right, &eigenvalues))));
                if is(a, 1, "v")? {
                    written.push((9, matrix_value(&left)));
                }
                if is(a, 2, "v")? {
                    written.push((11, matrix_value(&right)));
                }
            }
            Reply::written(written)
        }
        // side, howmny, select, n, t, ldt, vl, ldvl, vr, ldvr, mm, m, work, info
        "dtrevc" => {
            let t = a.matrix(4)?;
            square(name, &t)?;
            let pair = vectors::pairs(&schur::eigenvalues(&t));
            let both = is(a, 0, "b")?;
            let mut written = vec![(13, Value::Integer(0))];
            for (letter, at) in [("l", 6), ("r", 8)] {
                if !both && !is(a, 0, letter)? {
                    continue;
                }
                let mut v = if letter == "l" {
                    vectors::left(&t)
                } else {
                    vectors::right(&t)
                };
                let given = a.matrix(at)?;
                if is(a, 1, "b")? {
                    enough(name, given.columns == t.rows)?;
                    vectors::normalise_largest(&mut v, &pair);
                    v = product(&given, &v);
                }
                vectors::normalise_largest(&mut v, &pair);
                if is(a, 1, "s")? {
                    v = chosen(&v, &pair, &a.booleans(2)?, given)?;
                }
                written.push((at, matrix_value(&v)));
            }
            Reply::written(written)
        }
        // job, compq, select, n, t, ldt, q, ldq, wr, wi, m, s, sep, work, lwork, iwork, liwork, info
        "dtrsen" => {
            let mut t = a.matrix(4)?;
            square(name, &t)?;
            let choice = a.booleans(2)?;
            enough(name, choice.len() >= t.rows)?;
            let mut q = is(a, 1, "v")?.then(|| a.matrix(6)).transpose()?;
            if let Some(q) = &q {
                enough(name, q.columns == t.rows)?;
            }
            let found = reorder::select(&mut t, q.as_mut(), &choice);
            let mut written = vec![(4, a.shaped(4, &t))];
            written.extend(parts(&schur::eigenvalues(&t), 8, 9));
            written.extend(q.map(|q| (6, a.shaped(6, &q))));
            match found {
                Ok(m) => {
                    written.extend([(10, Value::Integer(m as i64)), (17, Value::Integer(0))]);
                    if !is(a, 0, "n")? {
                        let reorder::Conditions { s, sep } = reorder::conditions(&t, m);
                        written.extend([(11, Value::Real(s)), (12, Value::Real(sep))]);
                    }
                }
                Err(reorder::TooClose) => written.push((17, Value::Integer(1))),
            }
            Reply::written(written)
        }
        // trana, tranb, isgn, m, n, a, lda, b, ldb, c, ldc, scale, info
        "dtrsyl" => {
            let (m, b, c) = (a.matrix(5)?, a.matrix(7)?, a.matrix(9)?);
            square(name, &m)?;
            square(name, &b)?;
            enough(name, c.rows == m.rows && c.columns == b.rows)?;
            let sign = if a.integer(2)? < 0 { -1.0 } else { 1.0 };
            let (left, right) = (!is(a, 0, "n")?, !is(a, 1, "n")?);
            let solved = sylvester::solve(&m, left, &b, right, sign, &c);
            Reply::written(vec![
                (9, a.shaped(9, &solved.x)),
                (11, Value::Real(solved.scale)),
                (12, Value::Integer(i64::from(solved.perturbed))),
            ])
        }
        // jobvl, jobvr, n, a, lda, b, ldb, alphar, alphai, beta, vl, ldvl, vr, ldvr, work, lwork, info
        "dggev" => {
            let places = Places {
                n: 2,
                jobs: 0,
                matrices: [3, 5],
                alpha: 7,
                vectors: [10, 12],
                info: 16,
            };
            Reply::written(generalised(name, a, &places)?)
        }
        // balanc, jobvl, jobvr, sense, n, a, lda, b, ldb, alphar, alphai, beta, vl, ldvl, vr, ldvr, ilo, ihi, lscale, rscale, abnrm, bbnrm, rconde,
        // rcondv, work, lwork, iwork, bwork, info
        "dggevx" => {
            let places = Places {
                n: 4,
                jobs: 1,
                matrices: [5, 7],
                alpha: 9,
                vectors: [12, 14],
                info: 28,
            };
            let mut written = generalised(name, a, &places)?;
            let (m, b) = (a.matrix(5)?, a.matrix(7)?);
            // The pencil is not balanced, which is the balance with all factors 1.
            let ones = reals(&vec![1.0; m.rows]);
            written.extend([
                (16, Value::Integer(1)),
                (17, Value::Integer(m.rows as i64)),
                (18, ones.clone()),
                (19, ones),
                (20, Value::Real(norm_one(&m))),
                (21, Value::Real(norm_one(&b))),
            ]);
            Reply::written(written)
        }
        // job, compq, compz, n, ilo, ihi, h, ldh, t, ldt, alphar, alphai, beta, q, ldq, z, ldz, work, lwork, info
        "dhgeqz" => {
            let (mut h, mut t) = (a.matrix(6)?, a.matrix(8)?);
            square(name, &h)?;
            square(name, &t)?;
            enough(name, h.rows == t.rows)?;
            let n = h.rows;
            for i in 0..n {
                for j in 0..i {
                    t[(i, j)] = 0.0;
                    if j + 1 < i {
                        h[(i, j)] = 0.0;
                    }
                }
            }
            let mut pencil = Pencil::of_form(h, t);
            let info = pencil.iterate(active(a, 4, n)?);
            let mut written = vec![(19, info_of(info))];
            written.extend(ratio_parts(&pencil.eigenvalues(), n, 10, a)?);
            if is(a, 0, "s")? {
                written.extend([(6, a.shaped(6, &pencil.s)), (8, a.shaped(8, &pencil.p))]);
            }
            for (job, at, own) in [(1, 13, &pencil.q), (2, 15, &pencil.z)] {
                if is(a, job, "i")? {
                    written.push((at, matrix_value(own)));
                } else if is(a, job, "v")? {
                    let given = a.matrix(at)?;
                    enough(name, given.columns == n)?;
                    written.push((at, matrix_value(&product(&given, own))));
                }
            }
            Reply::written(written)
        }
        _ => return Ok(None),
    }))
}

fn enough(name: &str, agree: bool) -> Result<(), String> {
    if agree {
        Ok(())
    } else {
        Err(format!("`{name}`: the sizes of its arguments do not agree"))
    }
}

/// `ilo` and `ihi` (from 1) at arguments i and i + 1 of a matrix of n rows.
fn active(a: &Args, i: usize, n: usize) -> Result<Range<usize>, String> {
    let (low, high) = (a.integer(i)?, a.integer(i + 1)?);
    if n == 0 {
        return Ok(0..0);
    }
    if low < 1 || high > n as i64 || low > high {
        return Err(format!(
            "`{}`: rows {low} to {high} of a matrix with {n} rows",
            a.name
        ));
    }
    Ok(low as usize - 1..high as usize)
}

fn info_of(result: Result<(), i64>) -> Value {
    Value::Integer(result.err().unwrap_or(0))
}

/// Real and imaginary parts as two arguments.
fn parts(values: &[Complex], re: usize, im: usize) -> [(usize, Value); 2] {
    let pick = |f: fn(&Complex) -> f64| reals(&values.iter().map(f).collect::<Vec<f64>>());
    [(re, pick(|z| z.re)), (im, pick(|z| z.im))]
}

/// A matrix of moderate size and the power of two by which it was divided.
fn in_range(m: &Matrix) -> (Matrix, f64) {
    let size = max_abs(m);
    if !size.is_finite() || size == 0.0 || (1.0 / IN_RANGE..IN_RANGE).contains(&size) {
        return (m.clone(), 1.0);
    }
    let factor = size.log2().floor().exp2();
    let mut out = m.clone();
    out.data.iter_mut().for_each(|x| *x /= factor);
    (out, factor)
}

/// Z·T·Zᵀ of the balanced matrix.
struct Form {
    t: Matrix,
    z: Matrix,
    balance: Balance,
    /// 1-norm of the balanced matrix.
    norm: f64,
    info: i64,
}

impl Form {
    fn of(m: &Matrix, balanced: bool) -> Form {
        let (mut work, factor) = in_range(m);
        let n = work.rows;
        let balance = if balanced {
            balance(&mut work)
        } else {
            Balance::none(n)
        };
        let norm = norm_one(&work) * factor;
        let active = balance.active.clone();
        let reduced = hessenberg::reduce(&work, active.clone());
        let mut z = hessenberg::q(&reduced.factors, &reduced.tau, active.clone());
        let mut t = hessenberg::upper(&reduced.factors);
        let info = schur::schur(&mut t, Some(&mut z), active)
            .err()
            .unwrap_or(0);
        if factor != 1.0 {
            t.data.iter_mut().for_each(|x| *x *= factor);
        }
        Form {
            t,
            z,
            balance,
            norm,
            info,
        }
    }

    fn eigenvalues(&self) -> Vec<Complex> {
        schur::eigenvalues(&self.t)
    }

    fn right(&self) -> Matrix {
        let mut v = self.back(vectors::right(&self.t));
        self.balance.restore_right(&mut v);
        vectors::normalise_length(&mut v, &vectors::pairs(&self.eigenvalues()));
        v
    }

    fn left(&self) -> Matrix {
        let mut v = self.back(vectors::left(&self.t));
        self.balance.restore_left(&mut v);
        vectors::normalise_length(&mut v, &vectors::pairs(&self.eigenvalues()));
        v
    }

    fn back(&self, mut v: Matrix) -> Matrix {
        vectors::normalise_largest(&mut v, &vectors::pairs(&self.eigenvalues()));
        product(&self.z, &v)
    }
}

/// |yᴴ·x| of left and right vectors of length 1: reciprocal condition numbers of the eigenvalues.
fn angles(left: &Matrix, right: &Matrix, eigenvalues: &[Complex]) -> Vec<f64> {
    let n = left.rows;
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let k = out.len();
        let pair = eigenvalues[k].im > 0.0;
        let at = |v: &Matrix, i: usize| Complex {
            re: v.at(i, k),
            im: if pair { v.at(i, k + 1) } else { 0.0 },
        };
        let sum = (0..n).fold(Complex::default(), |sum, i| {
            sum + at(left, i).conj() * at(right, i)
        });
        out.push(sum.abs());
        if pair {
            out.push(sum.abs());
        }
    }
    out
}

/// The columns of the chosen vectors first, the rest of the given matrix as it is.
fn chosen(v: &Matrix, pair: &[bool], choice: &[bool], mut given: Matrix) -> Result<Matrix, String> {
    let mut to = 0;
    let mut k = 0;
    while k < v.columns {
        let width = if pair[k] { 2 } else { 1 };
        if (k..k + width).any(|j| choice.get(j).copied().unwrap_or(false)) {
            if to + width > given.columns || given.rows != v.rows {
                return Err("there is too little room for the chosen eigenvectors".into());
            }
            for i in 0..v.rows {
                for j in 0..width {
                    given[(i, to + j)] = v.at(i, k + j);
                }
            }
            to += width;
        }
        k += width;
    }
    Ok(given)
}

/// Where the arguments of a generalised problem are.
struct Places {
    n: usize,
    /// First of the two letters for left and right vectors.
    jobs: usize,
    matrices: [usize; 2],
    /// First of real part, imaginary part and β.
    alpha: usize,
    vectors: [usize; 2],
    info: usize,
}

/// A·x = λ·B·x of the first n rows and columns.
fn generalised(name: &str, a: &Args, places: &Places) -> Result<Vec<(usize, Value)>, String> {
    let n = a.size(places.n)?;
    let [full_a, full_b] = places.matrices.map(|i| a.matrix(i));
    let (full_a, full_b) = (full_a?, full_b?);
    let fits = |m: &Matrix| m.rows >= n && m.columns >= n;
    enough(name, fits(&full_a) && fits(&full_b))?;
    let (m, factor_a) = in_range(&part(&full_a, 0..n, 0..n));
    let (b, factor_b) = in_range(&part(&full_b, 0..n, 0..n));
    let mut pencil = pencil::reduce(&m, &b);
    let info = pencil.iterate(0..n);
    let ratios = pencil.eigenvalues();
    let mut written = Vec::new();
    if info.is_ok() {
        let pair: Vec<bool> = ratios.iter().map(|r| r.alpha.im > 0.0).collect();
        for (job, at) in places.vectors.iter().enumerate() {
            if !is(a, places.jobs + job, "v")? {
                continue;
            }
            let (mut v, back) = if job == 0 {
                let left = vectors::left_of_pencil(&pencil.s, &pencil.p, &ratios);
                (left, &pencil.q)
            } else {
                let right = vectors::right_of_pencil(&pencil.s, &pencil.p, &ratios);
                (right, &pencil.z)
            };
            vectors::normalise_largest(&mut v, &pair);
            v = product(back, &v);
            vectors::normalise_largest(&mut v, &pair);
            let mut room = a.matrix(*at)?;
            enough(name, fits(&room))?;
            for i in 0..n {
                for j in 0..n {
                    room[(i, j)] = v.at(i, j);
                }
            }
            written.push((*at, matrix_value(&room)));
        }
    }
    let scaled: Vec<Ratio> = (ratios.iter())
        .map(|r| Ratio {
            alpha: r.alpha.scaled(factor_a),
            beta: r.beta * factor_b,
        })
        .collect();
    written.extend(ratio_parts(&scaled, n, places.alpha, a)?);
    written.push((places.info, info_of(info)));
    Ok(written)
}

/// αr, αi and β as three arguments, whose elements beyond n stay as they are.
fn ratio_parts(
    ratios: &[Ratio],
    n: usize,
    first: usize,
    a: &Args,
) -> Result<Vec<(usize, Value)>, String> {
    let picks: [fn(&Ratio) -> f64; 3] = [|r| r.alpha.re, |r| r.alpha.im, |r| r.beta];
    let mut out = Vec::new();
    for (k, pick) in picks.into_iter().enumerate() {
        let mut room = a.matrix(first + k)?.data;
        enough(a.name, room.len() >= n)?;
        for (x, r) in room.iter_mut().zip(ratios) {
            *x = pick(r);
        }
        out.push((first + k, reals(&room)));
    }
    Ok(out)
}
