//! Axis ranges and tick marks at round numbers.

/// The range and the ticks of one axis.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<f64>,
    /// Distance of the ticks; of a logarithmic axis in decades.
    step: f64,
    logarithmic: bool,
}

/// Half-width of the range shown around a single value, relative to it.
const CONSTANT_MARGIN: f64 = 0.05;

impl Axis {
    /// The range as it is, with about `count` ticks inside.
    pub(crate) fn exact(low: f64, high: f64, count: usize) -> Axis {
        let (low, high) = widened(low, high);
        let step = round_step((high - low) / count as f64);
        Axis {
            low,
            high,
            ticks: multiples(low, high, step),
            step,
            logarithmic: false,
        }
    }

    /// Whole decades around positive values, at most about eight labels.
    pub(crate) fn logarithmic(low: f64, high: f64) -> Axis {
        const LABELS: f64 = 8.0;
        let (first, mut last) = (low.log10().floor(), high.log10().ceil());
        if last <= first {
            last = first + 1.0;
        }
        let step = ((last - first) / LABELS).ceil();
        let count = ((last - first) / step).floor() as i32;
        Axis {
            low: 10_f64.powf(first),
            high: 10_f64.powf(last),
            ticks: (0..=count)
                .map(|k| 10_f64.powf(first + step * f64::from(k)))
                .collect(),
            step,
            logarithmic: true,
        }
    }

    /// Where a value is between the ends, 0 to 1. Values that a logarithm cannot show are at its lower end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            let value = value.max(self.low);
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Where stems begin: zero, or the lower end.
    pub(crate) fn foot(&self) -> f64 {
        if self.logarithmic {
            self.low
        } else {
            0.0_f64.clamp(self.low, self.high)
        }
    }

    /// The range widened by a margin so that curves do not touch the frame.
    pub(crate) fn with_margin(low: f64, high: f64, count: usize, margin: f64) -> Axis {
        let (low, high) = widened(low, high);
        let pad = margin * (high - low);
        Axis::exact(low - pad, high + pad, count)
    }

    /// The text of a tick: as many digits as the step needs.
    pub(crate) fn label(&self, value: f64) -> String {
        if self.logarithmic {
            return format!("10{}", superscript(value.log10().round() as i32));
        }
        let size = self.low.abs().max(self.high.abs());
        if !(1e-3..1e5).contains(&size) {
            return exponent_label(value, self.step, size);
        }
        let digits = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
        typographic(&format!("{value:.digits$}"))
    }
}

fn superscript(number: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(raised).collect()
}

/// Text with a common power of ten: `2.5e-6`.
fn exponent_label(value: f64, step: f64, size: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = size.log10().floor();
    let scale = 10_f64.powf(exponent);
    let digits = (-(step / scale).log10().floor()).clamp(0.0, 12.0) as usize;
    typographic(&format!("{:.digits$}e{exponent}", value / scale))
}

/// The true minus sign, and no negative zero.
fn typographic(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("\u{2212}{}", rest.replace('-', "\u{2212}")),
        None => text.replace('-', "\u{2212}"),
    }
}

/// A range of positive width around [low, high].
fn widened(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    // Narrower than rounding: a constant.
    if high - low > 1e-12 * size {
        (low, high)
    } else if size == 0.0 {
        (-1.0, 1.0)
    } else {
        (low - CONSTANT_MARGIN * size, high + CONSTANT_MARGIN * size)
    }
}

/// The nearest of 1, 2, 5 × 10ⁿ that is not below the wish.
fn round_step(wish: f64) -> f64 {
    let power = 10_f64.powf(wish.log10().floor());
    let mantissa = wish / power;
    let round = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|&m| m >= mantissa * (1.0 - 1e-9));
    round.map_or(10.0, |m| m) * power
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    const TICKS_MAX: usize = 100;
    let first = (low / step - 1e-9).ceil();
    (0..TICKS_MAX)
        .map(|i| (first + i as f64) * step)
        .take_while(|&tick| tick <= high + 1e-9 * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(low: f64, high: f64, expected: &[&str]) {
        let axis = Axis::exact(low, high, 5);
        let labels: Vec<String> = axis.ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn ticks_are_round_numbers() {
        check(0.0, 3.0, &["0", "1", "2", "3"]);
        check(0.0, 1.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check(-0.45, 0.4, &["−0.4", "−0.2", "0.0", "0.2", "0.4"]);
        check(0.0, 2e-6, &["0", "0.5e−6", "1.0e−6", "1.5e−6", "2.0e−6"]);
        check(
            99_000.0,
            101_000.0,
            &["0.990e5", "0.995e5", "1.000e5", "1.005e5", "1.010e5"],
        );
    }

    #[test]
    fn decades_are_labelled() {
        let axis = Axis::logarithmic(3e-6, 0.02);
        let labels: Vec<String> = axis.ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert!((axis.share(1e-3) - 0.6).abs() < 1e-12);
        assert_eq!(axis.share(0.0), 0.0);
        let wide = Axis::logarithmic(1e-16, 1e4);
        assert_eq!(
            (wide.ticks.len(), wide.ticks[1] / wide.ticks[0] > 900.0),
            (7, true)
        );
    }

    #[test]
    fn a_constant_gets_room() {
        let axis = Axis::with_margin(5.0, 5.0, 5, 0.05);
        assert!(axis.low < 4.8 && axis.high > 5.2);
        let axis = Axis::with_margin(0.0, 0.0, 5, 0.05);
        assert!(axis.low < -0.9 && axis.high > 0.9);
    }
}
