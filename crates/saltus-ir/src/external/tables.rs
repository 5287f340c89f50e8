//! Interpolation in tables: `CombiTimeTable`, `CombiTable1D`, `CombiTable2D` of the Modelica Standard Library.
//!
//! Comes in: a matrix with abscissae in the first column (and first row in two dimensions). Goes out: values with first and
//! second derivatives, and the time events of time tables. Everything is a function of its arguments: a table has no memory,
//! so trial points of an integrator do no harm.
//!
//! Methods: H. Akima, J. ACM 17 (1970) 589 and Comm. ACM 17 (1974) 18 (bivariate); the modified weights of Akima's method
//! that add half the absolute sum of neighbouring slopes; F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984)
//! 300; M. Steffen, Astron. Astrophys. 239 (1990) 443. Cubic pieces are Hermite polynomials on these slopes. The monotone
//! methods use the secant as slope at both ends.

/// Interpolation between table points; numbers as in `Modelica.Blocks.Types.Smoothness`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Smoothness {
    LinearSegments,
    ContinuousDerivative,
    ConstantSegments,
    MonotoneContinuousDerivative1,
    MonotoneContinuousDerivative2,
    ModifiedContinuousDerivative,
}

impl Smoothness {
    pub fn from_ordinal(k: i64) -> Result<Smoothness, String> {
        Ok(match k {
            1 => Smoothness::LinearSegments,
            2 => Smoothness::ContinuousDerivative,
            3 => Smoothness::ConstantSegments,
            4 => Smoothness::MonotoneContinuousDerivative1,
            5 => Smoothness::MonotoneContinuousDerivative2,
            6 => Smoothness::ModifiedContinuousDerivative,
            _ => return Err(format!("a table has the unknown smoothness {k}")),
        })
    }

    fn is_spline(self) -> bool {
        !matches!(
            self,
            Smoothness::LinearSegments | Smoothness::ConstantSegments
        )
    }
}

/// Outside of the table; numbers as in `Modelica.Blocks.Types.Extrapolation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extrapolation {
    HoldLastPoint,
    LastTwoPoints,
    Periodic,
    NoExtrapolation,
}

impl Extrapolation {
    pub fn from_ordinal(k: i64) -> Result<Extrapolation, String> {
        Ok(match k {
            1 => Extrapolation::HoldLastPoint,
            2 => Extrapolation::LastTwoPoints,
            3 => Extrapolation::Periodic,
            4 => Extrapolation::NoExtrapolation,
            _ => return Err(format!("a table has the unknown extrapolation {k}")),
        })
    }
}

/// Numbers as in `Modelica.Blocks.Types.TimeEvents`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeEvents {
    Always,
    AtDiscontinuities,
    NoTimeEvents,
}

impl TimeEvents {
    pub fn from_ordinal(k: i64) -> Result<TimeEvents, String> {
        Ok(match k {
            1 => TimeEvents::Always,
            2 => TimeEvents::AtDiscontinuities,
            3 => TimeEvents::NoTimeEvents,
            _ => return Err(format!("a table has the unknown time event handling {k}")),
        })
    }
}

/// A matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub data: Vec<f64>,
}

impl Matrix {
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.columns + j]
    }

    fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self.at(i, j)).collect()
    }
}

/// Value with first and second derivative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jet {
    pub y: f64,
    pub d1: f64,
    pub d2: f64,
}

impl Jet {
    fn constant(y: f64) -> Jet {
        Jet {
            y,
            d1: 0.0,
            d2: 0.0,
        }
    }

    /// y + slope·distance
    fn line(y: f64, slope: f64, distance: f64) -> Jet {
        Jet {
            y: y + slope * distance,
            d1: slope,
            d2: 0.0,
        }
    }

    /// First derivative along a motion of the argument.
    pub fn rate(self, der_u: f64) -> f64 {
        self.d1 * der_u
    }

    /// Second derivative along a motion of the argument.
    pub fn second_rate(self, der_u: f64, der2_u: f64) -> f64 {
        self.d2 * der_u * der_u + self.d1 * der2_u
    }
}

/// Where an abscissa lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    Before,
    /// Between points i and i + 1.
    Interval(usize),
    /// At the last point, seen from the right.
    End,
    After,
}

/// Several functions on common abscissae.
#[derive(Clone, Debug)]
pub struct Curve {
    x: Vec<f64>,
    /// One per column that is used.
    y: Vec<Vec<f64>>,
    /// Slopes at the points, for splines.
    slopes: Vec<Vec<f64>>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

impl Curve {
    /// `columns` count from 1. Equal neighbouring abscissae are jumps and allowed if `jumps`.
    pub fn new(
        table: &Matrix,
        columns: &[i64],
        smoothness: Smoothness,
        extrapolation: Extrapolation,
        jumps: bool,
    ) -> Result<Curve, String> {
        if table.rows < 1 || table.columns < 2 {
            return Err(format!(
                "a table with {} rows and {} columns cannot be interpolated: it needs at least 1 row and 2 columns",
                table.rows, table.columns
            ));
        }
        let x = table.column(0);
        if let Some(bad) = table.data.iter().find(|v| !v.is_finite()) {
            return Err(format!("a table contains the value {bad}"));
        }
        let jumps = jumps && !smoothness.is_spline();
        for (i, pair) in x.windows(2).enumerate() {
            if pair[0] > pair[1] || (pair[0] == pair[1] && !jumps) {
                let how = if jumps {
                    "increasing"
                } else {
                    "strictly increasing"
                };
                return Err(format!(
                    "the first column of a table must be {how}, but row {} has {} and row {} has {}",
                    i + 1,
                    pair[0],
                    i + 2,
                    pair[1]
                ));
            }
        }
        if extrapolation == Extrapolation::Periodic && x.len() > 1 && x[0] == x[x.len() - 1] {
            return Err("a table with periodic extrapolation needs a positive period".into());
        }
        let mut y = Vec::with_capacity(columns.len());
        for &c in columns {
            if c < 1 || c as usize > table.columns {
                return Err(format!(
                    "column {c} of a table with {} columns",
                    table.columns
                ));
            }
            y.push(table.column(c as usize - 1));
        }
        // Two points define no more than a line.
        let smoothness = if smoothness.is_spline() && x.len() == 2 {
            Smoothness::LinearSegments
        } else {
            smoothness
        };
        let slopes = if smoothness.is_spline() && x.len() > 2 {
            y.iter().map(|y| spline_slopes(&x, y, smoothness)).collect()
        } else {
            Vec::new()
        };
        Ok(Curve {
            x,
            y,
            slopes,
            smoothness,
            extrapolation,
        })
    }

    pub fn minimum(&self) -> f64 {
        self.x[0]
    }

    pub fn maximum(&self) -> f64 {
        self.x[self.x.len() - 1]
    }

    fn column(&self, column: i64) -> Result<usize, String> {
        if column >= 1 && column as usize <= self.y.len() {
            Ok(column as usize - 1)
        } else {
            Err(format!(
                "output {column} of a table with {} outputs",
                self.y.len()
            ))
        }
    }

    /// Output `column` (from 1) at `u`.
    pub fn value(&self, column: i64, u: f64) -> Result<Jet, String> {
        let column = self.column(column)?;
        if !u.is_finite() {
            return Err(format!("a table is read at {u}"));
        }
        if self.x.len() == 1 {
            return Ok(Jet::constant(self.y[column][0]));
        }
        let u = if self.extrapolation == Extrapolation::Periodic {
            self.within_period(u)
        } else {
            u
        };
        self.on_piece(column, self.piece_right(u), u)
    }

    fn within_period(&self, u: f64) -> f64 {
        let (min, max) = (self.minimum(), self.maximum());
        if u >= min && u <= max {
            return u;
        }
        let period = max - min;
        let v = u - ((u - min) / period).floor() * period;
        v.clamp(min, max)
    }

    /// The piece to the right of `u`: right-continuous.
    fn piece_right(&self, u: f64) -> Piece {
        let n = self.x.len();
        if u < self.x[0] {
            Piece::Before
        } else if u > self.x[n - 1] {
            Piece::After
        } else if u == self.x[n - 1] {
            Piece::End
        } else {
            Piece::Interval(self.x.partition_point(|&x| x <= u) - 1)
        }
    }

    /// The piece to the left of `u`: left-continuous.
    fn piece_left(&self, u: f64) -> Piece {
        let n = self.x.len();
        if u <= self.x[0] {
            Piece::Before
        } else if u > self.x[n - 1] {
            Piece::After
        } else {
            Piece::Interval(self.x.partition_point(|&x| x < u) - 1)
        }
    }

    fn on_piece(&self, column: usize, piece: Piece, u: f64) -> Result<Jet, String> {
        let n = self.x.len();
        Ok(match piece {
            Piece::Interval(i) => self.inside(column, i, u),
            Piece::End if self.smoothness == Smoothness::ConstantSegments => {
                Jet::constant(self.y[column][n - 1])
            }
            Piece::End => {
                // Derivatives from the last interval of positive length.
                let i = self.x.partition_point(|&x| x < self.x[n - 1]);
                let inner = self.inside(column, i.max(1) - 1, u);
                Jet {
                    y: self.y[column][n - 1],
                    ..inner
                }
            }
            Piece::Before | Piece::After => self.outside(column, piece == Piece::Before, u)?,
        })
    }

    fn inside(&self, column: usize, i: usize, u: f64) -> Jet {
        let (x0, x1) = (self.x[i], self.x[i + 1]);
        let (y0, y1) = (self.y[column][i], self.y[column][i + 1]);
        let h = x1 - x0;
        match self.smoothness {
            Smoothness::ConstantSegments => Jet::constant(y0),
            Smoothness::LinearSegments => {
                if h == 0.0 {
                    return Jet::constant(y1);
                }
                Jet::line(y0, (y1 - y0) / h, u - x0)
            }
            _ => hermite(
                h,
                y0,
                y1,
                self.slopes[column][i],
                self.slopes[column][i + 1],
                u - x0,
            ),
        }
    }

    fn outside(&self, column: usize, left: bool, u: f64) -> Result<Jet, String> {
        let n = self.x.len();
        let y = &self.y[column];
        let (edge, y_edge) = if left {
            (self.x[0], y[0])
        } else {
            (self.x[n - 1], y[n - 1])
        };
        match self.extrapolation {
            Extrapolation::HoldLastPoint => Ok(Jet::constant(y_edge)),
            Extrapolation::LastTwoPoints => {
                let slope = if self.slopes.is_empty() {
                    let (a, b) = if left { (0, 1) } else { (n - 2, n - 1) };
                    let h = self.x[b] - self.x[a];
                    if h == 0.0 { 0.0 } else { (y[b] - y[a]) / h }
                } else {
                    self.slopes[column][if left { 0 } else { n - 1 }]
                };
                Ok(Jet::line(y_edge, slope, u - edge))
            }
            // The caller maps into the period; rounding may leave a distance of a few units in the last place.
            Extrapolation::Periodic => Ok(Jet::constant(y_edge)),
            Extrapolation::NoExtrapolation => Err(format!(
                "a table without extrapolation is read at {u}, outside of {} .. {}",
                self.minimum(),
                self.maximum()
            )),
        }
    }
}

/// The cubic with values and slopes at both ends, `s` from its left end.
fn hermite(h: f64, y0: f64, y1: f64, m0: f64, m1: f64, s: f64) -> Jet {
    let secant = (y1 - y0) / h;
    let c2 = (3.0 * secant - 2.0 * m0 - m1) / h;
    let c3 = (m0 + m1 - 2.0 * secant) / (h * h);
    Jet {
        y: y0 + s * (m0 + s * (c2 + s * c3)),
        d1: m0 + s * (2.0 * c2 + s * 3.0 * c3),
        d2: 2.0 * c2 + 6.0 * c3 * s,
    }
}

/// Slopes of a spline at its points (at least three).
fn spline_slopes(x: &[f64], y: &[f64], smoothness: Smoothness) -> Vec<f64> {
    let n = x.len();
    let secants: Vec<f64> = (0..n - 1)
        .map(|i| (y[i + 1] - y[i]) / (x[i + 1] - x[i]))
        .collect();
    match smoothness {
        Smoothness::MonotoneContinuousDerivative1 | Smoothness::MonotoneContinuousDerivative2 => {
            let mut slopes = vec![secants[0]];
            for i in 1..n - 1 {
                let (h0, h1) = (x[i] - x[i - 1], x[i + 1] - x[i]);
                slopes.push(monotone_slope(
                    h0,
                    h1,
                    secants[i - 1],
                    secants[i],
                    smoothness,
                ));
            }
            slopes.push(secants[n - 2]);
            slopes
        }
        _ => {
            // Two more secants on each side, on the parabola through the outer three points.
            let (first, second) = (secants[0], secants[1]);
            let (last, before) = (secants[n - 2], secants[n - 3]);
            let mut d = vec![3.0 * first - 2.0 * second, 2.0 * first - second];
            d.extend(&secants);
            d.extend([2.0 * last - before, 3.0 * last - 2.0 * before]);
            (0..n)
                .map(|i| akima_slope([d[i], d[i + 1], d[i + 2], d[i + 3]], smoothness))
                .collect()
        }
    }
}

/// Weighted mean of the inner two of four secants.
fn akima_slope(d: [f64; 4], smoothness: Smoothness) -> f64 {
    let mut left = (d[3] - d[2]).abs();
    let mut right = (d[1] - d[0]).abs();
    if smoothness == Smoothness::ModifiedContinuousDerivative {
        left += 0.5 * (d[3] + d[2]).abs();
        right += 0.5 * (d[1] + d[0]).abs();
    }
    if left + right > 0.0 {
        (left * d[1] + right * d[2]) / (left + right)
    } else {
        0.5 * (d[1] + d[2])
    }
}

/// A slope between two secants that keeps monotone data monotone; zero at a local extremum.
fn monotone_slope(h0: f64, h1: f64, d0: f64, d1: f64, smoothness: Smoothness) -> f64 {
    if d0 == 0.0 || d1 == 0.0 || (d0 > 0.0) != (d1 > 0.0) {
        return 0.0;
    }
    if smoothness == Smoothness::MonotoneContinuousDerivative1 {
        return 3.0 * (h0 + h1) / ((h0 + 2.0 * h1) / d0 + (h1 + 2.0 * h0) / d1);
    }
    let parabola = (d0 * h1 + d1 * h0) / (h0 + h1);
    let limit = 2.0 * d0.abs().min(d1.abs());
    parabola.abs().min(limit).copysign(d0)
}

/// Times closer than this, relative to their size, are one time: scaling and shifting of the time axis rounds.
const SAME_TIME: f64 = 32.0 * f64::EPSILON;

/// Returned when there is no next event: the largest number, so that it can be stored and compared.
pub const NO_EVENT: f64 = f64::MAX;

/// A curve over time, with start, shift and events.
#[derive(Clone, Debug)]
pub struct TimeTable {
    curve: Curve,
    start: f64,
    shift: f64,
    /// Abscissae where an event is wanted.
    events: Vec<f64>,
}

impl TimeTable {
    pub fn new(curve: Curve, start: f64, shift: f64, time_events: TimeEvents) -> TimeTable {
        let x = &curve.x;
        let n = x.len();
        let mut events: Vec<f64> = match time_events {
            TimeEvents::NoTimeEvents => Vec::new(),
            _ if n == 1 => Vec::new(),
            TimeEvents::Always => x.clone(),
            TimeEvents::AtDiscontinuities => {
                let mut events: Vec<f64> = x
                    .windows(2)
                    .filter(|p| p[0] == p[1])
                    .map(|p| p[0])
                    .collect();
                if curve.extrapolation == Extrapolation::Periodic {
                    events.extend([x[0], x[n - 1]]);
                    events.sort_by(f64::total_cmp);
                }
                events
            }
        };
        events.dedup();
        TimeTable {
            curve,
            start,
            shift,
            events,
        }
    }

    pub fn minimum(&self) -> f64 {
        self.curve.minimum()
    }

    pub fn maximum(&self) -> f64 {
        self.curve.maximum()
    }

    /// Output `column` at `time`. `next` and `pre_next` are the next event now and before the event iteration: as long as they
    /// are equal the event at `next` has not happened, and the table is continued from its left.
    pub fn value(&self, column: i64, time: f64, next: f64, pre_next: f64) -> Result<Jet, String> {
        let c = &self.curve;
        let index = c.column(column)?;
        if !time.is_finite() {
            return Err(format!("a table is read at time {time}"));
        }
        let slack = SAME_TIME * time.abs().max(next.abs().min(time.abs()));
        let before_event = next == pre_next && next < NO_EVENT && time >= next - slack;
        if before_event && next <= self.start {
            return Ok(Jet::constant(0.0));
        }
        if time < self.start - slack {
            return Ok(Jet::constant(0.0));
        }
        if c.x.len() == 1 {
            return Ok(Jet::constant(c.y[index][0]));
        }
        if before_event {
            let anchor = self.abscissa(next, false);
            return c.on_piece(index, c.piece_left(anchor), anchor + (time - next));
        }
        let u = self.abscissa(time, true);
        c.on_piece(index, c.piece_right(u), u)
    }

    /// The abscissa of a time: shifted, in the period, and on a table point that it misses only by rounding. At the seam of a
    /// periodic table `right` chooses its beginning, else its end.
    fn abscissa(&self, time: f64, right: bool) -> f64 {
        let c = &self.curve;
        let slack = SAME_TIME * time.abs().max(self.shift.abs());
        let (min, max) = (c.minimum(), c.maximum());
        let mut u = time - self.shift;
        if c.extrapolation == Extrapolation::Periodic {
            let period = max - min;
            u -= ((u - min) / period).floor() * period;
            let slack = slack.max(SAME_TIME * max.abs().max(min.abs()));
            if right && u >= max - slack {
                u = min;
            } else if !right && u <= min + slack {
                u = max;
            }
            return self.on_point(u, slack);
        }
        self.on_point(u, slack)
    }

    fn on_point(&self, u: f64, slack: f64) -> f64 {
        let x = &self.curve.x;
        let i = x.partition_point(|&p| p < u);
        for candidate in [i.checked_sub(1), Some(i)].into_iter().flatten() {
            if let Some(&p) = x.get(candidate)
                && (p - u).abs() <= slack
            {
                return p;
            }
        }
        u
    }

    /// The time of the next event after `time`, [`NO_EVENT`] if there is none.
    pub fn next_event(&self, time: f64) -> f64 {
        let slack = SAME_TIME * time.abs().max(self.start.abs().min(time.abs()));
        if time < self.start - slack {
            return self.start;
        }
        let after = |t: f64| t > time + SAME_TIME * time.abs().max(t.abs());
        if self.curve.extrapolation != Extrapolation::Periodic {
            return self
                .events
                .iter()
                .map(|e| e + self.shift)
                .find(|&t| after(t))
                .unwrap_or(NO_EVENT);
        }
        if self.events.is_empty() {
            return NO_EVENT;
        }
        let (min, period) = (self.minimum(), self.maximum() - self.minimum());
        let cycle = ((time - self.shift - min) / period).floor();
        let times = [-1.0, 0.0, 1.0].into_iter().flat_map(|k| {
            self.events
                .iter()
                .map(move |e| e + self.shift + (cycle + k) * period)
        });
        times.filter(|&t| after(t)).fold(NO_EVENT, f64::min)
    }
}

/// A function of two arguments on a grid: `x` in the first column, `y` in the first row.
#[derive(Clone, Debug)]
pub struct Surface {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Row-major.
    z: Vec<f64>,
    kind: SurfaceKind,
    extrapolation: Extrapolation,
}

#[derive(Clone, Debug)]
enum SurfaceKind {
    Constant,
    Bilinear,
    /// Partial derivatives at the grid points: ∂x, ∂y, ∂x∂y.
    Bicubic(Vec<[f64; 3]>),
    /// A single row or column: a curve in `y` or in `x`.
    Line(Curve),
}

/// Value, gradient and second derivatives of a surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SurfaceJet {
    pub z: f64,
    pub gradient: [f64; 2],
    /// xx, xy, yy
    pub second: [f64; 3],
}

impl SurfaceJet {
    pub fn rate(&self, du: [f64; 2]) -> f64 {
        self.gradient[0] * du[0] + self.gradient[1] * du[1]
    }

    pub fn second_rate(&self, du: [f64; 2], ddu: [f64; 2]) -> f64 {
        self.second[0] * du[0] * du[0]
            + 2.0 * self.second[1] * du[0] * du[1]
            + self.second[2] * du[1] * du[1]
            + self.rate(ddu)
    }
}

impl Surface {
    pub fn new(
        table: &Matrix,
        smoothness: Smoothness,
        extrapolation: Extrapolation,
    ) -> Result<Surface, String> {
        if table.rows < 2 || table.columns < 2 {
            return Err(format!(
                "a table with {} rows and {} columns cannot be interpolated in two dimensions: it needs at least 2 of both",
                table.rows, table.columns
            ));
        }
        let x: Vec<f64> = (1..table.rows).map(|i| table.at(i, 0)).collect();
        let y: Vec<f64> = (1..table.columns).map(|j| table.at(0, j)).collect();
        let z: Vec<f64> = (1..table.rows)
            .flat_map(|i| (1..table.columns).map(move |j| (i, j)))
            .map(|(i, j)| table.at(i, j))
            .collect();
        for (axis, values) in [("column", &x), ("row", &y)] {
            if let Some(i) = values.windows(2).position(|p| p[0] >= p[1]) {
                return Err(format!(
                    "the first {axis} of a two-dimensional table must be strictly increasing, but {} is followed by {}",
                    values[i],
                    values[i + 1]
                ));
            }
        }
        if let Some(bad) = x.iter().chain(&y).chain(&z).find(|v| !v.is_finite()) {
            return Err(format!("a table contains the value {bad}"));
        }
        if x.len() == 1 || y.len() == 1 {
            let abscissae = if x.len() == 1 { &y } else { &x };
            let data = abscissae
                .iter()
                .zip(&z)
                .flat_map(|(a, b)| [*a, *b])
                .collect();
            let matrix = Matrix {
                rows: abscissae.len(),
                columns: 2,
                data,
            };
            let curve = Curve::new(&matrix, &[2], smoothness, extrapolation, false)?;
            return Ok(Surface {
                x,
                y,
                z,
                kind: SurfaceKind::Line(curve),
                extrapolation,
            });
        }
        let kind = match smoothness {
            Smoothness::LinearSegments => SurfaceKind::Bilinear,
            Smoothness::ConstantSegments => SurfaceKind::Constant,
            Smoothness::ContinuousDerivative | Smoothness::ModifiedContinuousDerivative => {
                if x.len() == 2 && y.len() == 2 {
                    SurfaceKind::Bilinear
                } else {
                    SurfaceKind::Bicubic(surface_slopes(&x, &y, &z, smoothness))
                }
            }
            Smoothness::MonotoneContinuousDerivative1
            | Smoothness::MonotoneContinuousDerivative2 => {
                return Err(
                    "monotone interpolation is not defined for two-dimensional tables".into(),
                );
            }
        };
        Ok(Surface {
            x,
            y,
            z,
            kind,
            extrapolation,
        })
    }

    pub fn minimum(&self) -> [f64; 2] {
        [self.x[0], self.y[0]]
    }

    pub fn maximum(&self) -> [f64; 2] {
        [self.x[self.x.len() - 1], self.y[self.y.len() - 1]]
    }

    pub fn value(&self, u: f64, v: f64) -> Result<SurfaceJet, String> {
        if !u.is_finite() || !v.is_finite() {
            return Err(format!("a table is read at ({u}, {v})"));
        }
        if let SurfaceKind::Line(curve) = &self.kind {
            let along_y = self.x.len() == 1;
            let jet = curve.value(1, if along_y { v } else { u })?;
            return Ok(if along_y {
                SurfaceJet {
                    z: jet.y,
                    gradient: [0.0, jet.d1],
                    second: [0.0, 0.0, jet.d2],
                }
            } else {
                SurfaceJet {
                    z: jet.y,
                    gradient: [jet.d1, 0.0],
                    second: [jet.d2, 0.0, 0.0],
                }
            });
        }
        let a = self.along(&self.x, u, "first")?;
        let b = self.along(&self.y, v, "second")?;
        Ok(match &self.kind {
            SurfaceKind::Constant if a.beyond == 0.0 && b.beyond == 0.0 => {
                // At the upper ends the last point counts.
                let i = if a.inside >= self.x[a.cell + 1] {
                    a.cell + 1
                } else {
                    a.cell
                };
                let j = if b.inside >= self.y[b.cell + 1] {
                    b.cell + 1
                } else {
                    b.cell
                };
                SurfaceJet {
                    z: self.z[i * self.y.len() + j],
                    gradient: [0.0; 2],
                    second: [0.0; 3],
                }
            }
            SurfaceKind::Constant | SurfaceKind::Bilinear => self.bilinear(&a, &b),
            SurfaceKind::Bicubic(slopes) => self.bicubic(slopes, &a, &b),
            SurfaceKind::Line(_) => unreachable!("handled above"),
        })
    }

    /// Place on one axis.
    fn along(&self, x: &[f64], u: f64, which: &str) -> Result<Along, String> {
        let n = x.len();
        let (min, max) = (x[0], x[n - 1]);
        let mut u = u;
        if self.extrapolation == Extrapolation::Periodic && (u < min || u > max) {
            let period = max - min;
            u = (u - ((u - min) / period).floor() * period).clamp(min, max);
        }
        let inside = u.clamp(min, max);
        let beyond = u - inside;
        if beyond != 0.0 && self.extrapolation == Extrapolation::NoExtrapolation {
            return Err(format!(
                "a table without extrapolation is read at {u} in its {which} argument, outside of {min} .. {max}"
            ));
        }
        let hold = beyond != 0.0 && self.extrapolation == Extrapolation::HoldLastPoint;
        let cell = x.partition_point(|&p| p <= inside).clamp(1, n - 1) - 1;
        Ok(Along {
            cell,
            inside,
            beyond: if hold { 0.0 } else { beyond },
            held: hold,
        })
    }

    fn bilinear(&self, a: &Along, b: &Along) -> SurfaceJet {
        let m = self.y.len();
        let (i, j) = (a.cell, b.cell);
        let z = |p: usize, q: usize| self.z[(i + p) * m + j + q];
        let (h, k) = (self.x[i + 1] - self.x[i], self.y[j + 1] - self.y[j]);
        let s = (a.inside + a.beyond - self.x[i]) / h;
        let t = (b.inside + b.beyond - self.y[j]) / k;
        let value = (1.0 - s) * (1.0 - t) * z(0, 0)
            + s * (1.0 - t) * z(1, 0)
            + (1.0 - s) * t * z(0, 1)
            + s * t * z(1, 1);
        let gx = ((1.0 - t) * (z(1, 0) - z(0, 0)) + t * (z(1, 1) - z(0, 1))) / h;
        let gy = ((1.0 - s) * (z(0, 1) - z(0, 0)) + s * (z(1, 1) - z(1, 0))) / k;
        let gxy = (z(1, 1) - z(1, 0) - z(0, 1) + z(0, 0)) / (h * k);
        held(
            SurfaceJet {
                z: value,
                gradient: [gx, gy],
                second: [0.0, gxy, 0.0],
            },
            a,
            b,
        )
    }

    /// The bicubic Hermite patch; outside, its tangent along the axis that is left.
    fn bicubic(&self, slopes: &[[f64; 3]], a: &Along, b: &Along) -> SurfaceJet {
        let m = self.y.len();
        let (i, j) = (a.cell, b.cell);
        let (h, k) = (self.x[i + 1] - self.x[i], self.y[j + 1] - self.y[j]);
        let (s, t) = (a.inside - self.x[i], b.inside - self.y[j]);
        // Along y at both rows of the cell: values and x-slopes as cubics.
        let at = |p: usize, q: usize| {
            let index = (i + p) * m + j + q;
            (self.z[index], slopes[index])
        };
        let row = |p: usize| {
            let ((z0, d0), (z1, d1)) = (at(p, 0), at(p, 1));
            (
                hermite(k, z0, z1, d0[1], d1[1], t),
                hermite(k, d0[0], d1[0], d0[2], d1[2], t),
            )
        };
        let (low, high) = (row(0), row(1));
        // Along x: for the value, the first and the second derivative in y.
        let cubic = |pick: fn(Jet) -> f64| {
            hermite(h, pick(low.0), pick(high.0), pick(low.1), pick(high.1), s)
        };
        let (f, fy, fyy) = (cubic(|j| j.y), cubic(|j| j.d1), cubic(|j| j.d2));
        let mut jet = SurfaceJet {
            z: f.y,
            gradient: [f.d1, fy.y],
            second: [f.d2, fy.d1, fyy.y],
        };
        let (mut fxx_y, fyy_x) = (fy.d2, fyy.d1);
        if a.beyond != 0.0 {
            // z + ∂x·e, with everything that depends on y moved along.
            let e = a.beyond;
            jet.z += jet.gradient[0] * e;
            jet.gradient[1] += jet.second[1] * e;
            jet.second[2] += fyy_x * e;
            jet.second[0] = 0.0;
            fxx_y = 0.0;
        }
        if b.beyond != 0.0 {
            let e = b.beyond;
            jet.z += jet.gradient[1] * e;
            jet.gradient[0] += jet.second[1] * e;
            jet.second[0] += fxx_y * e;
            jet.second[2] = 0.0;
        }
        held(jet, a, b)
    }
}

#[derive(Clone, Copy, Debug)]
struct Along {
    cell: usize,
    /// The argument, moved to the nearest end of the axis.
    inside: f64,
    /// How far beyond that end, if the table is extrapolated there.
    beyond: f64,
    /// Outside with the last value held: no change along this axis.
    held: bool,
}

fn held(mut jet: SurfaceJet, a: &Along, b: &Along) -> SurfaceJet {
    if a.held {
        jet.gradient[0] = 0.0;
        jet.second[0] = 0.0;
        jet.second[1] = 0.0;
    }
    if b.held {
        jet.gradient[1] = 0.0;
        jet.second[1] = 0.0;
        jet.second[2] = 0.0;
    }
    jet
}

/// Partial derivatives at the grid points by Akima's bivariate method, on a grid continued by two points on each side.
fn surface_slopes(x: &[f64], y: &[f64], z: &[f64], smoothness: Smoothness) -> Vec<[f64; 3]> {
    let (n, m) = (x.len(), y.len());
    let (xe, ye) = (continued_axis(x), continued_axis(y));
    let width = m + 4;
    let mut ze = vec![0.0; (n + 4) * width];
    for i in 0..n {
        let row = continued_values(&ye, &z[i * m..(i + 1) * m]);
        ze[(i + 2) * width..(i + 3) * width].copy_from_slice(&row);
    }
    for j in 0..width {
        let column: Vec<f64> = (0..n).map(|i| ze[(i + 2) * width + j]).collect();
        for (i, value) in continued_values(&xe, &column).into_iter().enumerate() {
            ze[i * width + j] = value;
        }
    }
    let zx =
        |i: usize, j: usize| (ze[(i + 1) * width + j] - ze[i * width + j]) / (xe[i + 1] - xe[i]);
    let zy = |i: usize, j: usize| (ze[i * width + j + 1] - ze[i * width + j]) / (ye[j + 1] - ye[j]);
    let mut out = Vec::with_capacity(n * m);
    for i in 2..n + 2 {
        for j in 2..m + 2 {
            let dx = [zx(i - 2, j), zx(i - 1, j), zx(i, j), zx(i + 1, j)];
            let dy = [zy(i, j - 2), zy(i, j - 1), zy(i, j), zy(i, j + 1)];
            let (wx, wy) = (akima_weights(dx, smoothness), akima_weights(dy, smoothness));
            // Mixed differences of the four cells around the point.
            let cross = |p: usize, q: usize| (zy(p + 1, q) - zy(p, q)) / (xe[p + 1] - xe[p]);
            let mixed = wx[0] * (wy[0] * cross(i - 1, j - 1) + wy[1] * cross(i - 1, j))
                + wx[1] * (wy[0] * cross(i, j - 1) + wy[1] * cross(i, j));
            out.push([
                akima_slope(dx, smoothness),
                akima_slope(dy, smoothness),
                mixed,
            ]);
        }
    }
    out
}

/// Weights of the inner two of four secants, with sum 1.
fn akima_weights(d: [f64; 4], smoothness: Smoothness) -> [f64; 2] {
    let mut left = (d[3] - d[2]).abs();
    let mut right = (d[1] - d[0]).abs();
    if smoothness == Smoothness::ModifiedContinuousDerivative {
        left += 0.5 * (d[3] + d[2]).abs();
        right += 0.5 * (d[1] + d[0]).abs();
    }
    let sum = left + right;
    if sum > 0.0 {
        [left / sum, right / sum]
    } else {
        [0.5, 0.5]
    }
}

/// The axis with two more points on each side, spaced like the outer intervals taken in turn.
fn continued_axis(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let (a, b, c, d) = if n == 2 {
        let h = x[1] - x[0];
        (x[0] - 2.0 * h, x[0] - h, x[1] + h, x[1] + 2.0 * h)
    } else {
        let (p, q) = (x[2] - x[0], x[n - 1] - x[n - 3]);
        (
            x[0] - p,
            x[0] - (x[2] - x[1]),
            x[n - 1] + (x[n - 2] - x[n - 3]),
            x[n - 1] + q,
        )
    };
    let mut out = vec![a, b];
    out.extend_from_slice(x);
    out.extend([c, d]);
    out
}

/// Values at the continued axis: on the line of two points or the parabola of three.
fn continued_values(x: &[f64], z: &[f64]) -> Vec<f64> {
    let n = z.len();
    let mut out = vec![0.0; n + 4];
    out[2..n + 2].copy_from_slice(z);
    if n == 2 {
        let d = z[1] - z[0];
        out[1] = z[0] - d;
        out[0] = z[0] - 2.0 * d;
        out[4] = z[1] + d;
        out[5] = z[1] + 2.0 * d;
        return out;
    }
    // Secants continue with constant difference, as on a parabola with equal intervals.
    let secant = |out: &[f64], i: usize| (out[i + 1] - out[i]) / (x[i + 1] - x[i]);
    let (s2, s3) = (secant(&out, 2), secant(&out, 3));
    let s1 = 2.0 * s2 - s3;
    out[1] = out[2] - s1 * (x[2] - x[1]);
    out[0] = out[1] - (s1 + s2 - s3) * (x[1] - x[0]);
    let (e2, e3) = (secant(&out, n), secant(&out, n - 1));
    let e1 = 2.0 * e2 - e3;
    out[n + 2] = out[n + 1] + e1 * (x[n + 2] - x[n + 1]);
    out[n + 3] = out[n + 2] + (e1 + e2 - e3) * (x[n + 3] - x[n + 2]);
    out
}
