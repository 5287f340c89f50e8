//! Units of measurement: their texts (Modelica specification 3.6, section 19.1), conversion, and the check of equations ([`check`]).
//!
//! ```text
//! unit        = numerator [ "/" denominator ]
//! numerator   = "1" | factors | "(" unit ")"
//! denominator = factor | "(" unit ")"
//! factors     = factor [ "." factors ]
//! factor      = operand [ [ "+" | "-" ] digits ]
//! operand     = [ prefix ] symbol
//! ```
//! An angle is a number here, as in the International System of Units: `rad` and `1` are one unit, `deg` is a fraction of it.

mod check;
mod text;

pub use check::check;

/// Base dimensions: length, mass, time, current, temperature, amount, luminous intensity.
const N_BASE: usize = 7;
/// Exponents are kept as multiples of one over this, so that roots of units are units.
pub(crate) const ROOTS: i32 = 12;
/// Relative difference below which two factors are one.
const FACTOR_REL: f64 = 1e-9;

/// A unit: a value in it, times `factor` plus `offset`, is the value in base units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// Exponents of the base units, in twelfths.
    pub(crate) dimension: [i32; N_BASE],
    pub factor: f64,
    pub offset: f64,
}

impl Unit {
    pub(crate) const ONE: Unit = Unit {
        dimension: [0; N_BASE],
        factor: 1.0,
        offset: 0.0,
    };

    const fn base(k: usize) -> Unit {
        let mut dimension = [0; N_BASE];
        dimension[k] = ROOTS;
        Unit {
            dimension,
            factor: 1.0,
            offset: 0.0,
        }
    }

    /// The unit that a text means; `None` if it is none.
    ///
    /// ```
    /// use saltus_ir::units::Unit;
    ///
    /// let newton = Unit::parse("kg.m/s2").unwrap();
    /// assert!(newton.is_same(&Unit::parse("N").unwrap()));
    /// assert!(!newton.is_same(&Unit::parse("J").unwrap()));
    /// assert_eq!(Unit::parse("km/h").unwrap().factor, 1000.0 / 3600.0);
    /// assert!(Unit::parse("furlong").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Unit> {
        let mut parser = Parser {
            rest: text.trim(),
            depth: 0,
        };
        let unit = parser.unit()?;
        parser.rest.is_empty().then_some(unit)
    }

    /// Both measure the same kind of quantity.
    pub fn has_dimension_of(&self, other: &Unit) -> bool {
        self.dimension == other.dimension
    }

    /// Numbers in both mean the same.
    pub fn is_same(&self, other: &Unit) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= FACTOR_REL * a.abs().max(b.abs());
        self.has_dimension_of(other)
            && near(self.factor, other.factor)
            && near(self.offset, other.offset)
    }

    pub(crate) fn times(&self, other: &Unit) -> Unit {
        let mut dimension = self.dimension;
        (dimension.iter_mut().zip(other.dimension)).for_each(|(d, o)| *d += o);
        Unit {
            dimension,
            factor: self.factor * other.factor,
            offset: 0.0,
        }
    }

    /// The unit to the power of a fraction of twelfths; `None` if an exponent is no such fraction.
    pub(crate) fn power(&self, twelfths: i32) -> Option<Unit> {
        let mut dimension = self.dimension;
        for d in &mut dimension {
            let scaled = d.checked_mul(twelfths)?;
            if scaled % ROOTS != 0 {
                return None;
            }
            *d = scaled / ROOTS;
        }
        Some(Unit {
            dimension,
            factor: self.factor.powf(f64::from(twelfths) / f64::from(ROOTS)),
            offset: 0.0,
        })
    }

    pub(crate) fn inverse(&self) -> Unit {
        Unit {
            dimension: self.dimension.map(|d| -d),
            factor: 1.0 / self.factor,
            offset: 0.0,
        }
    }

    /// In base units and powers, `kg.m2/s3`; `1` for a number.
    pub(crate) fn in_base_units(&self) -> String {
        const NAMES: [&str; N_BASE] = ["m", "kg", "s", "A", "K", "mol", "cd"];
        let part = |sign: i32| -> Vec<String> {
            (self.dimension.iter().zip(NAMES))
                .filter(|(d, _)| *d * sign > 0)
                .map(|(d, name)| match (d * sign, d * sign % ROOTS) {
                    (ROOTS, _) => name.to_owned(),
                    (d, 0) => format!("{name}{}", d / ROOTS),
                    (d, _) => format!("{name}^({d}/{ROOTS})"),
                })
                .collect()
        };
        let (above, below) = (part(1), part(-1));
        let above = match above.is_empty() {
            true => "1".to_owned(),
            false => above.join("."),
        };
        match below.len() {
            0 => above,
            1 => format!("{above}/{}", below[0]),
            _ => format!("{above}/({})", below.join(".")),
        }
    }
}

/// From values in one unit to values in another of the same kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conversion {
    factor: f64,
    offset: f64,
}

impl Conversion {
    /// `None` if there is none, or nothing to convert.
    ///
    /// ```
    /// use saltus_ir::units::Conversion;
    ///
    /// let celsius = Conversion::between("K", "degC").unwrap();
    /// assert!((celsius.apply(300.0) - 26.85).abs() < 1e-12);
    /// assert!(Conversion::between("K", "bar").is_none());
    /// assert!(Conversion::between("K", "").is_none());
    /// ```
    pub fn between(from: &str, to: &str) -> Option<Conversion> {
        if from == to || from.is_empty() || to.is_empty() {
            return None;
        }
        let (from, to) = (Unit::parse(from)?, Unit::parse(to)?);
        if !from.has_dimension_of(&to) {
            return None;
        }
        Some(Conversion {
            factor: from.factor / to.factor,
            offset: (from.offset - to.offset) / to.factor,
        })
    }

    pub fn apply(&self, value: f64) -> f64 {
        self.factor * value + self.offset
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

/// Parentheses in parentheses beyond this are no unit.
const DEPTH_MAX: usize = 8;

impl Parser<'_> {
    fn take(&mut self, c: char) -> bool {
        let after = self.rest.strip_prefix(c);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn unit(&mut self) -> Option<Unit> {
        let numerator = match self.rest.starts_with('(') {
            true => self.inside()?,
            false if self.is_number() => {
                self.take('1');
                Unit::ONE
            }
            false => self.factors()?,
        };
        if !self.take('/') {
            return Some(numerator);
        }
        let denominator = match self.rest.starts_with('(') {
            true => self.inside()?,
            false => self.factor()?,
        };
        Some(numerator.times(&denominator.inverse()))
    }

    /// A `1` that stands for itself.
    fn is_number(&self) -> bool {
        let mut letters = self.rest.chars();
        letters.next() == Some('1') && matches!(letters.next(), None | Some('/' | ')'))
    }

    fn inside(&mut self) -> Option<Unit> {
        self.depth += 1;
        if self.depth > DEPTH_MAX || !self.take('(') {
            return None;
        }
        let unit = self.unit()?;
        self.take(')').then_some(unit)
    }

    fn factors(&mut self) -> Option<Unit> {
        let mut unit = self.factor()?;
        while self.take('.') {
            unit = unit.times(&self.factor()?);
        }
        Some(unit)
    }

    fn factor(&mut self) -> Option<Unit> {
        let is_letter = |c: char| c.is_alphabetic() || c == '%' || c == '_' || c == '\'';
        let end = self.rest.find(|c| !is_letter(c)).unwrap_or(self.rest.len());
        let unit = operand(&self.rest[..end])?;
        self.rest = &self.rest[end..];
        let signed = self.rest.strip_prefix(['+', '-']).unwrap_or(self.rest);
        let n_digits = signed.len()
            - signed
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if n_digits == 0 {
            return (signed.len() == self.rest.len()).then_some(unit);
        }
        let (exponent, rest) = self
            .rest
            .split_at(self.rest.len() - signed.len() + n_digits);
        let exponent: i32 = exponent.trim_start_matches('+').parse().ok()?;
        self.rest = rest;
        unit.power(exponent.checked_mul(ROOTS)?)
    }
}

/// A symbol, or a prefix and a symbol. What is both is the symbol: `min` is a minute, `cd` a candela, `Pa` a pascal.
fn operand(text: &str) -> Option<Unit> {
    if let Some(unit) = symbol(text) {
        return Some(unit);
    }
    let prefixes = [("da", 1e1)].into_iter().chain(PREFIXES);
    for (prefix, factor) in prefixes {
        if let Some(unit) = text.strip_prefix(prefix).and_then(symbol)
            && unit.offset == 0.0
        {
            return Some(Unit {
                factor: factor * unit.factor,
                ..unit
            });
        }
    }
    None
}

const PREFIXES: [(&str, f64); 20] = [
    ("Y", 1e24),
    ("Z", 1e21),
    ("E", 1e18),
    ("P", 1e15),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
    ("a", 1e-18),
    ("z", 1e-21),
    ("y", 1e-24),
];

/// Standard gravity, m/s².
const GRAVITY: f64 = 9.806_65;

/// Exponents of m, kg, s, A, K, mol, cd.
fn derived(exponents: [i32; N_BASE], factor: f64) -> Unit {
    Unit {
        dimension: exponents.map(|e| e * ROOTS),
        factor,
        offset: 0.0,
    }
}

/// Symbols of the International System (BIPM, 9th edition, tables 2, 4 and 8) and those that Modelica libraries use beside them.
fn symbol(text: &str) -> Option<Unit> {
    use std::f64::consts::PI;
    let time = |seconds: f64| derived([0, 0, 1, 0, 0, 0, 0], seconds);
    let number = |factor: f64| derived([0; N_BASE], factor);
    let pressure = |pascal: f64| derived([-1, 1, -2, 0, 0, 0, 0], pascal);
    let energy = |joule: f64| derived([2, 1, -2, 0, 0, 0, 0], joule);
    let length = |metres: f64| derived([1, 0, 0, 0, 0, 0, 0], metres);
    let mass = |kilograms: f64| derived([0, 1, 0, 0, 0, 0, 0], kilograms);
    let temperature = |factor: f64, offset: f64| Unit {
        factor,
        offset,
        ..Unit::base(4)
    };
    Some(match text {
        "m" => Unit::base(0),
        "g" => mass(1e-3),
        "t" => mass(1e3),
        "lb" => mass(0.453_592_37),
        "s" => Unit::base(2),
        "min" => time(60.0),
        "h" => time(3600.0),
        "d" => time(86_400.0),
        "wk" => time(604_800.0),
        "yr" | "y" => time(31_557_600.0),
        "A" => Unit::base(3),
        "K" => Unit::base(4),
        "degC" | "°C" => temperature(1.0, 273.15),
        "degF" | "°F" => temperature(5.0 / 9.0, 459.67 * 5.0 / 9.0),
        "degRk" => temperature(5.0 / 9.0, 0.0),
        "mol" => Unit::base(5),
        "cd" => Unit::base(6),
        "rad" | "sr" => Unit::ONE,
        "deg" | "°" => number(PI / 180.0),
        "rev" => number(2.0 * PI),
        "rpm" => derived([0, 0, -1, 0, 0, 0, 0], 2.0 * PI / 60.0),
        "%" => number(1e-2),
        "ppm" => number(1e-6),
        "Hz" | "Bq" => derived([0, 0, -1, 0, 0, 0, 0], 1.0),
        "N" => derived([1, 1, -2, 0, 0, 0, 0], 1.0),
        "lbf" => derived([1, 1, -2, 0, 0, 0, 0], 0.453_592_37 * GRAVITY),
        "kp" => derived([1, 1, -2, 0, 0, 0, 0], GRAVITY),
        "Pa" => pressure(1.0),
        "bar" => pressure(1e5),
        "psi" => pressure(6_894.757_293_168),
        "atm" => pressure(101_325.0),
        "mmHg" => pressure(133.322_387_415),
        "inHg" => pressure(3_386.389),
        "J" => energy(1.0),
        "eV" => energy(1.602_176_634e-19),
        "cal" => energy(4.184),
        "Btu" => energy(1_055.055_852_62),
        "W" => derived([2, 1, -3, 0, 0, 0, 0], 1.0),
        "hp" => derived([2, 1, -3, 0, 0, 0, 0], 745.699_871_582),
        "C" => derived([0, 0, 1, 1, 0, 0, 0], 1.0),
        "V" => derived([2, 1, -3, -1, 0, 0, 0], 1.0),
        // Apparent and reactive power.
        "VA" | "var" => derived([2, 1, -3, 0, 0, 0, 0], 1.0),
        "F" => derived([-2, -1, 4, 2, 0, 0, 0], 1.0),
        "Ohm" | "Ω" => derived([2, 1, -3, -2, 0, 0, 0], 1.0),
        "S" => derived([-2, -1, 3, 2, 0, 0, 0], 1.0),
        "Wb" => derived([2, 1, -2, -1, 0, 0, 0], 1.0),
        "T" => derived([0, 1, -2, -1, 0, 0, 0], 1.0),
        "H" => derived([2, 1, -2, -2, 0, 0, 0], 1.0),
        "lm" => Unit::base(6),
        "lx" => derived([-2, 0, 0, 0, 0, 0, 1], 1.0),
        "Gy" | "Sv" => derived([2, 0, -2, 0, 0, 0, 0], 1.0),
        "kat" => derived([0, 0, -1, 0, 0, 1, 0], 1.0),
        "l" | "L" => derived([3, 0, 0, 0, 0, 0, 0], 1e-3),
        "gal" => derived([3, 0, 0, 0, 0, 0, 0], 3.785_411_784e-3),
        "in" => length(0.0254),
        "ft" => length(0.3048),
        "mi" => length(1_609.344),
        "nmi" => length(1_852.0),
        "kn" => derived([1, 0, -1, 0, 0, 0, 0], 1_852.0 / 3600.0),
        "ha" => derived([2, 0, 0, 0, 0, 0, 0], 1e4),
        "st" | "St" => derived([2, 0, -1, 0, 0, 0, 0], 1e-4),
        "P" => derived([-1, 1, -1, 0, 0, 0, 0], 0.1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_standard_library_are_understood() {
        for (text, base, factor) in [
            ("1", "1", 1.0),
            ("N.m", "m2.kg/s2", 1.0),
            ("N.m/rad", "m2.kg/s2", 1.0),
            ("J/(kg.K)", "m2/(s2.K)", 1.0),
            ("m/s2", "m/s2", 1.0),
            ("1/min", "1/s", 1.0 / 60.0),
            ("kW.h", "m2.kg/s2", 3.6e6),
            ("mm", "m", 1e-3),
            ("mmol", "mol", 1e-3),
            ("min", "s", 60.0),
            ("m-1", "1/m", 1.0),
            ("(m.s)/(kg)", "m.s/kg", 1.0),
            ("W/(m2.K4)", "kg/(s3.K4)", 1.0),
            ("cm3", "m3", 1e-6),
            ("da", "", f64::NAN),
        ] {
            let unit = Unit::parse(text);
            match unit {
                None => assert!(base.is_empty(), "{text}"),
                Some(unit) => {
                    assert_eq!(unit.in_base_units(), base, "{text}");
                    assert!((unit.factor / factor - 1.0).abs() < 1e-12, "{text}");
                }
            }
        }
        for text in ["", "m/", "m//s", "(m", "m^2", "kg.", "2m", "V/V/V"] {
            assert!(Unit::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn roots_of_units_are_units() {
        let square = Unit::parse("m2").expect("a unit");
        assert_eq!(square.power(ROOTS / 2), Unit::parse("m"));
        assert!(Unit::base(0).power(1).is_some());
        assert!(Unit::base(0).power(1).and_then(|u| u.power(1)).is_none());
    }
}
