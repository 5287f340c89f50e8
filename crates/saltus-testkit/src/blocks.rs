//! Models with systems of equations: mixed (ideal diodes), nonlinear, linear and singular, and models that fail on purpose.

use saltus_model::hand::{Code, HandModel, Layout};
use saltus_model::{
    BlockId, BlockInfo, CodeId, CrossingClass, Fault, FaultKind, Model, ScheduleKind, Section,
    Site, Slot, SlotRole, StateSlots, Status, Values,
};

const BEFORE: CodeId = CodeId(0);
const AFTER: CodeId = CodeId(1);
const CONTINUOUS: BlockId = BlockId(0);
const EVENT: BlockId = BlockId(1);

/// Half-wave rectifier with an ideal diode on its curve parameter s: blocking (s < 0): u = s, i = 0; conducting: u = 0, i = s.
/// U = 10 V, 50 Hz, Ri = 10, RL = 50, C = 1 mF. The block (one unknown, s) is mixed in the event system.
#[derive(Clone, Debug)]
struct RectifierCode {
    u2: StateSlots,
    s: Slot,
    i: Slot,
    open: Slot,
}

impl RectifierCode {
    fn source(t: f64) -> f64 {
        10.0 * (2.0 * std::f64::consts::PI * 50.0 * t).sin()
    }
}

impl Code for RectifierCode {
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        if code == AFTER {
            let derivative = (values.get(self.i) - values.get(self.u2.value) / 50.0) / 1e-3;
            values.set(self.u2.derivative, derivative);
        }
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let s = values.get(self.s);
        let open = values.get(self.open) != 0.0;
        let (u, i) = if open { (s, 0.0) } else { (0.0, s) };
        values.set(self.i, i);
        residual[0] =
            RectifierCode::source(values.time()) - values.get(self.u2.value) - 10.0 * i - u;
        Ok(())
    }

    fn jacobian(
        &self,
        _block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        jacobian[0] = if values.get(self.open) != 0.0 {
            -1.0
        } else {
            -10.0
        };
        Ok(true)
    }

    fn update_discrete(&self, _block: BlockId, values: &mut Values) -> Status {
        let open = values.get(self.s) < 0.0;
        values.set(self.open, f64::from(u8::from(open)));
        Ok(())
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        out[0] = values.get(self.s);
        Ok(())
    }
}

pub fn ideal_rectifier() -> impl Model {
    let mut layout = Layout::new("IdealRectifier");
    let u2 = layout.state("u2", 0.0);
    let s = layout.slot("s", SlotRole::Algebraic, 0.0);
    let i = layout.slot("i", SlotRole::Algebraic, 0.0);
    let open = layout.relation("s < 0", false, false, CrossingClass::General);
    let site = layout.site("u0 - u2 = Ri*i + u");
    let info = |discrete: Vec<Slot>| BlockInfo {
        unknowns: vec![s],
        rates: Vec::new(),
        determines: vec![s, i],
        discrete,
        linear: true,
        constant: false,
        residual_sites: vec![site],
        inner_sites: Vec::new(),
        pattern: None,
    };
    layout.block(info(Vec::new()));
    layout.block(info(vec![open]));
    layout.schedule(
        ScheduleKind::Derivatives,
        &[Section::Linear(CONTINUOUS), Section::Explicit(AFTER)],
    );
    for kind in [ScheduleKind::Event, ScheduleKind::Initial] {
        layout.schedule(kind, &[Section::Mixed(EVENT), Section::Explicit(AFTER)]);
    }
    HandModel::new(layout, RectifierCode { u2, s, i, open })
}

/// A block of `n` ideal diodes on a resistive network: 0 = q + M z, each pair (z_k, w_k) complementary through its curve parameter
/// s_k. M is a P-matrix for which changing all violated literals at once cycles.
#[derive(Clone, Debug)]
pub struct ComplementarityCode {
    matrix: Vec<Vec<f64>>,
    q: Vec<f64>,
    s: Vec<Slot>,
    open: Vec<Slot>,
}

impl Code for ComplementarityCode {
    fn run(&self, _code: CodeId, _values: &mut Values) -> Status {
        Ok(())
    }

    /// w = q + M z with z = s where conducting, w = -s where blocking.
    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let n = self.q.len();
        for (k, residual) in residual.iter_mut().enumerate() {
            let mut sum = self.q[k];
            for j in 0..n {
                if values.get(self.open[j]) == 0.0 {
                    sum += self.matrix[k][j] * values.get(self.s[j]);
                }
            }
            let w = if values.get(self.open[k]) != 0.0 {
                -values.get(self.s[k])
            } else {
                0.0
            };
            *residual = w - sum;
        }
        Ok(())
    }

    fn update_discrete(&self, _block: BlockId, values: &mut Values) -> Status {
        for (open, s) in self.open.iter().zip(&self.s) {
            let blocks = values.get(*s) < 0.0;
            values.set(*open, f64::from(u8::from(blocks)));
        }
        Ok(())
    }
}

/// Model whose initial system is one complementarity problem; slots of s come first.
pub fn complementarity(matrix: &[&[f64]], q: &[f64]) -> impl Model {
    let mut layout = Layout::new("Complementarity");
    let s: Vec<Slot> = (0..q.len())
        .map(|k| layout.slot(&format!("s[{}]", k + 1), SlotRole::Algebraic, 0.0))
        .collect();
    let open: Vec<Slot> = (0..q.len())
        .map(|k| layout.slot(&format!("open[{}]", k + 1), SlotRole::Discrete, 0.0))
        .collect();
    let sites: Vec<Site> = (0..q.len())
        .map(|k| layout.site(&format!("row {}", k + 1)))
        .collect();
    layout.block(BlockInfo {
        unknowns: s.clone(),
        rates: Vec::new(),
        determines: s.clone(),
        discrete: open.clone(),
        linear: true,
        constant: false,
        residual_sites: sites,
        inner_sites: Vec::new(),
        pattern: None,
    });
    for kind in [ScheduleKind::Event, ScheduleKind::Initial] {
        layout.schedule(kind, &[Section::Mixed(BlockId(0))]);
    }
    let matrix = matrix.iter().map(|row| row.to_vec()).collect();
    HandModel::new(
        layout,
        ComplementarityCode {
            matrix,
            q: q.to_vec(),
            s,
            open,
        },
    )
}

/// A network of resistors, ideal diodes and sources on nodes 0 (ground) to n: the unknowns are the potentials, the currents of a
/// node sum to its source. A diode from a to b with u = v_a - v_b conducts i = u/R_on where u ≥ 0 and leaks i = G_off u elsewhere.
#[derive(Clone, Debug)]
pub struct Network {
    /// Currents of sources into the nodes 1 to n.
    pub sources: Vec<f64>,
    /// From, to, conductance.
    pub resistors: Vec<(usize, usize, f64)>,
    /// From, to, conductance when on, when off.
    pub diodes: Vec<(usize, usize, f64, f64)>,
}

impl Network {
    /// Conductance matrix (by columns) for a set of diodes that are off.
    pub fn conductances(&self, off: impl Fn(usize) -> bool) -> Vec<f64> {
        let n = self.sources.len();
        let mut matrix = vec![0.0; n * n];
        let diodes = self.diodes.iter().enumerate();
        let diodes = diodes.map(|(k, d)| (d.0, d.1, if off(k) { d.3 } else { d.2 }));
        for (a, b, g) in self.resistors.iter().copied().chain(diodes) {
            for (i, j, g) in [(a, a, g), (b, b, g), (a, b, -g), (b, a, -g)] {
                if i > 0 && j > 0 {
                    matrix[(j - 1) * n + i - 1] += g;
                }
            }
        }
        matrix
    }

    /// Voltage of a diode.
    pub fn voltage(&self, diode: usize, v: &[f64]) -> f64 {
        let potential = |node: usize| if node == 0 { 0.0 } else { v[node - 1] };
        potential(self.diodes[diode].0) - potential(self.diodes[diode].1)
    }
}

#[derive(Clone, Debug)]
struct NetworkCode {
    network: Network,
    v: Vec<Slot>,
    off: Vec<Slot>,
}

impl NetworkCode {
    fn matrix(&self, values: &Values) -> Vec<f64> {
        (self.network).conductances(|k| values.get(self.off[k]) != 0.0)
    }

    fn voltages(&self, values: &Values) -> Vec<f64> {
        let v: Vec<f64> = self.v.iter().map(|slot| values.get(*slot)).collect();
        (0..self.off.len())
            .map(|k| self.network.voltage(k, &v))
            .collect()
    }
}

impl Code for NetworkCode {
    fn run(&self, _code: CodeId, _values: &mut Values) -> Status {
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let matrix = self.matrix(values);
        let n = self.v.len();
        for (i, residual) in residual.iter_mut().enumerate() {
            let currents = (0..n).map(|j| matrix[j * n + i] * values.get(self.v[j]));
            *residual = currents.sum::<f64>() - self.network.sources[i];
        }
        Ok(())
    }

    fn update_discrete(&self, _block: BlockId, values: &mut Values) -> Status {
        for (u, off) in self.voltages(values).iter().zip(&self.off) {
            values.set(*off, f64::from(u8::from(*u < 0.0)));
        }
        Ok(())
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        out.copy_from_slice(&self.voltages(values));
        Ok(())
    }
}

/// Model whose event and initial system is the network; the slots of the potentials come first.
pub fn network(network: Network) -> impl Model {
    let mut layout = Layout::new("Network");
    let n = network.sources.len();
    let v: Vec<Slot> = (0..n)
        .map(|k| layout.slot(&format!("v[{}]", k + 1), SlotRole::Algebraic, 0.0))
        .collect();
    let off: Vec<Slot> = (0..network.diodes.len())
        .map(|k| {
            layout.relation(
                &format!("u[{}] < 0", k + 1),
                false,
                false,
                CrossingClass::General,
            )
        })
        .collect();
    let sites = (0..n)
        .map(|k| layout.site(&format!("currents of node {}", k + 1)))
        .collect();
    layout.block(BlockInfo {
        unknowns: v.clone(),
        rates: Vec::new(),
        determines: v.clone(),
        discrete: off.clone(),
        linear: true,
        constant: false,
        residual_sites: sites,
        inner_sites: Vec::new(),
        pattern: None,
    });
    for kind in [ScheduleKind::Event, ScheduleKind::Initial] {
        layout.schedule(kind, &[Section::Mixed(BlockId(0))]);
    }
    HandModel::new(layout, NetworkCode { network, v, off })
}

/// x' = y with the nonlinear block y³ + y = z, z + y = x + 2 (two unknowns, no exact Jacobian): y solves y³ + 2y = x + 2.
#[derive(Clone, Debug)]
struct CubicCode {
    x: StateSlots,
    y: Slot,
    z: Slot,
}

impl Code for CubicCode {
    fn run(&self, _code: CodeId, values: &mut Values) -> Status {
        let y = values.get(self.y);
        values.set(self.x.derivative, -y);
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let (y, z) = (values.get(self.y), values.get(self.z));
        residual[0] = y * y * y + y - z;
        residual[1] = z + y - values.get(self.x.value) - 2.0;
        Ok(())
    }
}

/// x' = -y, y³ + 2y = x + 2, x(0) = 1, so y(0) = 1. With y as the independent variable: t = (3/2)(1 - y²) - 2 ln y.
pub fn nonlinear_block() -> impl Model {
    let mut layout = Layout::new("NonlinearBlock");
    let x = layout.state("x", 1.0);
    let y = layout.slot("y", SlotRole::Algebraic, 0.5);
    let z = layout.slot("z", SlotRole::Algebraic, 0.5);
    let sites = vec![layout.site("y^3 + y = z"), layout.site("z + y = x + 2")];
    layout.block(BlockInfo {
        unknowns: vec![y, z],
        rates: Vec::new(),
        determines: vec![y, z],
        discrete: Vec::new(),
        linear: false,
        constant: false,
        residual_sites: sites,
        inner_sites: Vec::new(),
        pattern: None,
    });
    let sections = [Section::Nonlinear(BlockId(0)), Section::Explicit(BEFORE)];
    for kind in [
        ScheduleKind::Derivatives,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &sections);
    }
    HandModel::new(layout, CubicCode { x, y, z })
}

/// A scalar initial equation g(u, λ) = 0 given by a closure; no states.
#[derive(Clone, Debug)]
pub struct ScalarCode<G> {
    u: Slot,
    lambda: Slot,
    g: G,
}

impl<G: Fn(f64, f64) -> Result<f64, Fault>> Code for ScalarCode<G> {
    fn run(&self, _code: CodeId, _values: &mut Values) -> Status {
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        residual[0] = (self.g)(values.get(self.u), values.get(self.lambda))?;
        Ok(())
    }
}

/// Slot of the unknown of [`scalar_equation`].
pub const SCALAR_UNKNOWN: Slot = Slot(1);

/// One equation g(u, λ) = 0 for u in all schedules that can have it, with the homotopy parameter λ if `homotopy`.
pub fn scalar_equation<G>(start: f64, homotopy: bool, limits: (f64, f64), g: G) -> impl Model
where
    G: Fn(f64, f64) -> Result<f64, Fault> + Clone,
{
    let mut layout = Layout::new("ScalarEquation");
    let u = layout.slot("u", SlotRole::Algebraic, start);
    let lambda = layout.slot("lambda", SlotRole::Auxiliary, 1.0);
    let site = layout.site("g(u) = 0");
    layout.info_mut().slots[u.index()].min = limits.0;
    layout.info_mut().slots[u.index()].max = limits.1;
    layout.info_mut().homotopy = homotopy.then_some(lambda);
    layout.block(BlockInfo {
        unknowns: vec![u],
        rates: Vec::new(),
        determines: vec![u],
        discrete: Vec::new(),
        linear: false,
        constant: false,
        residual_sites: vec![site],
        inner_sites: Vec::new(),
        pattern: None,
    });
    for kind in [
        ScheduleKind::Outputs,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &[Section::Nonlinear(BlockId(0))]);
    }
    HandModel::new(layout, ScalarCode { u, lambda, g })
}

/// A linear block A u = b given by rows; no states.
#[derive(Clone, Debug)]
pub struct LinearCode {
    rows: Vec<Vec<f64>>,
    b: Vec<f64>,
    u: Vec<Slot>,
}

impl Code for LinearCode {
    fn run(&self, _code: CodeId, _values: &mut Values) -> Status {
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        for ((residual, row), b) in residual.iter_mut().zip(&self.rows).zip(&self.b) {
            *residual = row
                .iter()
                .zip(&self.u)
                .map(|(a, u)| a * values.get(*u))
                .sum::<f64>()
                - b;
        }
        Ok(())
    }
}

/// Slots of the unknowns follow the time slot.
pub fn linear_system(rows: &[&[f64]], b: &[f64]) -> impl Model {
    let mut layout = Layout::new("LinearSystem");
    let u: Vec<Slot> = (0..b.len())
        .map(|k| layout.slot(&format!("u[{}]", k + 1), SlotRole::Algebraic, 7.0))
        .collect();
    let sites = (0..b.len())
        .map(|k| layout.site(&format!("row {}", k + 1)))
        .collect();
    layout.block(BlockInfo {
        unknowns: u.clone(),
        rates: Vec::new(),
        determines: u.clone(),
        discrete: Vec::new(),
        linear: true,
        constant: true,
        residual_sites: sites,
        inner_sites: Vec::new(),
        pattern: None,
    });
    for kind in [
        ScheduleKind::Outputs,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &[Section::Linear(BlockId(0))]);
    }
    HandModel::new(
        layout,
        LinearCode {
            rows: rows.iter().map(|row| row.to_vec()).collect(),
            b: b.to_vec(),
            u,
        },
    )
}

/// x' = f(t, x) where f may fail.
#[derive(Clone, Debug)]
pub struct FallibleCode<F> {
    x: StateSlots,
    f: F,
}

impl<F: Fn(f64, f64) -> Result<f64, Fault>> Code for FallibleCode<F> {
    fn run(&self, _code: CodeId, values: &mut Values) -> Status {
        let derivative = (self.f)(values.time(), values.get(self.x.value))?;
        values.set(self.x.derivative, derivative);
        Ok(())
    }
}

pub fn fallible<F: Fn(f64, f64) -> Result<f64, Fault> + Clone>(start: f64, f: F) -> impl Model {
    let mut layout = Layout::new("Fallible");
    let x = layout.state("x", start);
    for kind in [
        ScheduleKind::Derivatives,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &[Section::Explicit(BEFORE)]);
    }
    HandModel::new(layout, FallibleCode { x, f })
}

/// A failed `assert` at a place of the model.
pub fn assertion(text: &str) -> Fault {
    Fault {
        recoverable: true,
        site: Site(0),
        kind: FaultKind::assertion(text),
    }
}

/// Bratu's problem u'' + λ eᵘ = 0, u(0) = u(1) = 0, in n inner points: one block of n unknowns with a tridiagonal pattern.
#[derive(Clone, Debug)]
struct BratuCode {
    lambda: StateSlots,
    first: Slot,
    n: usize,
    exact: bool,
}

impl BratuCode {
    fn spacing(&self) -> f64 {
        1.0 / (self.n as f64 + 1.0)
    }
}

impl Code for BratuCode {
    fn run(&self, _code: CodeId, values: &mut Values) -> Status {
        values.set(self.lambda.derivative, 0.0);
        Ok(())
    }

    fn residual(&self, _block: BlockId, values: &mut Values, residual: &mut [f64]) -> Status {
        let lambda = values.get(self.lambda.value) * self.spacing() * self.spacing();
        let u = &values.v[self.first.index()..self.first.index() + self.n];
        let mut left = 0.0;
        for i in 0..self.n {
            let right = u.get(i + 1).copied().unwrap_or(0.0);
            residual[i] = left - 2.0 * u[i] + right + lambda * u[i].exp();
            left = u[i];
        }
        Ok(())
    }

    fn jacobian(
        &self,
        _block: BlockId,
        values: &mut Values,
        jacobian: &mut [f64],
    ) -> Result<bool, Fault> {
        if !self.exact {
            return Ok(false);
        }
        let lambda = values.get(self.lambda.value) * self.spacing() * self.spacing();
        let u = &values.v[self.first.index()..self.first.index() + self.n];
        let mut place = 0;
        for (j, u) in u.iter().enumerate() {
            for i in j.saturating_sub(1)..=(j + 1).min(self.n - 1) {
                jacobian[place] = if i == j { -2.0 + lambda * u.exp() } else { 1.0 };
                place += 1;
            }
        }
        Ok(true)
    }
}

/// Slot of the first unknown of [`bratu`].
pub const BRATU_FIRST: Slot = Slot(3);

/// Bratu's problem with λ = 1 and `n` unknowns, with or without an exact Jacobian. The solution of the differential equation is
/// u(z) = -2 ln(cosh((z - 1/2) θ/2)/cosh(θ/4)) with θ = √2 cosh(θ/4), see [`bratu_exact`]; the discrete one differs by O(1/n²).
pub fn bratu(n: usize, exact: bool) -> impl Model {
    let mut layout = Layout::new("Bratu");
    let lambda = layout.state("lambda", 1.0);
    let unknowns: Vec<Slot> = (0..n)
        .map(|i| layout.slot(&format!("u[{}]", i + 1), SlotRole::Algebraic, 0.0))
        .collect();
    let first = unknowns[0];
    let sites = (0..n)
        .map(|_| layout.site("u'' + lambda*exp(u) = 0"))
        .collect();
    let pattern = (0..n as u32)
        .map(|j| (j.saturating_sub(1)..=(j + 1).min(n as u32 - 1)).collect())
        .collect();
    layout.block(BlockInfo {
        rates: Vec::new(),
        determines: unknowns.clone(),
        unknowns,
        discrete: Vec::new(),
        linear: false,
        constant: false,
        residual_sites: sites,
        inner_sites: Vec::new(),
        pattern: Some(pattern),
    });
    let sections = [Section::Nonlinear(BlockId(0)), Section::Explicit(BEFORE)];
    for kind in [
        ScheduleKind::Derivatives,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &sections);
    }
    HandModel::new(
        layout,
        BratuCode {
            lambda,
            first,
            n,
            exact,
        },
    )
}

/// The solution of Bratu's problem with λ = 1 at z.
pub fn bratu_exact(z: f64) -> f64 {
    // The fixed-point iteration contracts by √2/4 sinh(θ/4) < 0.2.
    let theta = (0..60).fold(1.5f64, |theta, _| 2f64.sqrt() * (0.25 * theta).cosh());
    -2.0 * ((0.5 * (z - 0.5) * theta).cosh() / (0.25 * theta).cosh()).ln()
}
