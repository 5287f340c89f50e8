//! Units as FMI wants them: powers of the base units with factor and offset, and display units relative to a unit.
//!
//! Unit texts follow the Modelica specification, section 19.1: `kg.m2/s`, `(N.m)/(rad/s)`, `1/K2`. What is not known is written without base units, which the
//! standard allows: it then stands for itself.

/// value in base units = `factor`·value + `offset`
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BaseUnit {
    /// Powers of kg, m, s, A, K, mol, cd, rad.
    pub(crate) powers: [i32; 8],
    pub(crate) factor: f64,
    pub(crate) offset: f64,
}

pub(crate) const NAMES: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

const ONE: BaseUnit = BaseUnit {
    powers: [0; 8],
    factor: 1.0,
    offset: 0.0,
};

/// Symbol, powers of kg m s A K mol cd rad, factor, offset; whether prefixes are allowed.
type Symbol = (&'static str, [i32; 8], f64, f64, bool);

const PI: f64 = std::f64::consts::PI;
/// Zero of the Celsius scale, K.
const CELSIUS: f64 = 273.15;

/// The International System of Units, 9th edition, tables 2, 4 and 8; and what Modelica libraries use besides.
#[rustfmt::skip]
const SYMBOLS: [Symbol; 52] = [
    ("1",     [0, 0, 0, 0, 0, 0, 0, 0], 1.0, 0.0, false),
    ("g",     [1, 0, 0, 0, 0, 0, 0, 0], 1e-3, 0.0, true),
    ("m",     [0, 1, 0, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("s",     [0, 0, 1, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("A",     [0, 0, 0, 1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("K",     [0, 0, 0, 0, 1, 0, 0, 0], 1.0, 0.0, true),
    ("mol",   [0, 0, 0, 0, 0, 1, 0, 0], 1.0, 0.0, true),
    ("cd",    [0, 0, 0, 0, 0, 0, 1, 0], 1.0, 0.0, true),
    ("rad",   [0, 0, 0, 0, 0, 0, 0, 1], 1.0, 0.0, true),
    ("sr",    [0, 0, 0, 0, 0, 0, 0, 2], 1.0, 0.0, false),
    ("deg",   [0, 0, 0, 0, 0, 0, 0, 1], PI / 180.0, 0.0, false),
    ("rev",   [0, 0, 0, 0, 0, 0, 0, 1], 2.0 * PI, 0.0, false),
    ("Hz",    [0, 0, -1, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("N",     [1, 1, -2, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Pa",    [1, -1, -2, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("bar",   [1, -1, -2, 0, 0, 0, 0, 0], 1e5, 0.0, true),
    ("J",     [1, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("W",     [1, 2, -3, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("VA",    [1, 2, -3, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("V.A",   [1, 2, -3, 0, 0, 0, 0, 0], 1.0, 0.0, false),
    ("var",   [1, 2, -3, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("C",     [0, 0, 1, 1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("V",     [1, 2, -3, -1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("F",     [-1, -2, 4, 2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Ohm",   [1, 2, -3, -2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("S",     [-1, -2, 3, 2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Wb",    [1, 2, -2, -1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("T",     [1, 0, -2, -1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("H",     [1, 2, -2, -2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("lm",    [0, 0, 0, 0, 0, 0, 1, 2], 1.0, 0.0, true),
    ("lx",    [0, -2, 0, 0, 0, 0, 1, 2], 1.0, 0.0, true),
    ("Bq",    [0, 0, -1, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Gy",    [0, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Sv",    [0, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("kat",   [0, 0, -1, 0, 0, 1, 0, 0], 1.0, 0.0, true),
    ("min",   [0, 0, 1, 0, 0, 0, 0, 0], 60.0, 0.0, false),
    ("h",     [0, 0, 1, 0, 0, 0, 0, 0], 3600.0, 0.0, false),
    ("d",     [0, 0, 1, 0, 0, 0, 0, 0], 86400.0, 0.0, false),
    ("l",     [0, 3, 0, 0, 0, 0, 0, 0], 1e-3, 0.0, true),
    ("t",     [1, 0, 0, 0, 0, 0, 0, 0], 1e3, 0.0, true),
    ("eV",    [1, 2, -2, 0, 0, 0, 0, 0], 1.602_176_634e-19, 0.0, true),
    ("degC",  [0, 0, 0, 0, 1, 0, 0, 0], 1.0, CELSIUS, false),
    ("degF",  [0, 0, 0, 0, 1, 0, 0, 0], 5.0 / 9.0, CELSIUS - 32.0 * 5.0 / 9.0, false),
    ("degRk", [0, 0, 0, 0, 1, 0, 0, 0], 5.0 / 9.0, 0.0, false),
    ("rpm",   [0, 0, -1, 0, 0, 0, 0, 1], PI / 30.0, 0.0, false),
    ("rev/min", [0, 0, -1, 0, 0, 0, 0, 1], PI / 30.0, 0.0, false),
    ("%",     [0, 0, 0, 0, 0, 0, 0, 0], 1e-2, 0.0, false),
    ("kn",    [0, 1, -1, 0, 0, 0, 0, 0], 1852.0 / 3600.0, 0.0, false),
    ("atm",   [1, -1, -2, 0, 0, 0, 0, 0], 101_325.0, 0.0, false),
    ("at",    [1, -1, -2, 0, 0, 0, 0, 0], 98_066.5, 0.0, false),
    ("wb",    [1, 2, -2, -1, 0, 0, 0, 0], 1.0, 0.0, false),
    ("byte",  [0, 0, 0, 0, 0, 0, 0, 0], 8.0, 0.0, true),
];

const PREFIXES: [(&str, f64); 20] = [
    ("da", 1e1),
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
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
    ("a", 1e-18),
    ("z", 1e-21),
    ("y", 1e-24),
];

/// The unit in base units; `None` if a part of it is not known.
pub(crate) fn parse(text: &str) -> Option<BaseUnit> {
    if let Some(whole) = symbol(text) {
        return Some(whole);
    }
    let mut rest = text;
    let unit = quotient(&mut rest)?;
    rest.is_empty().then_some(unit)
}

/// value in the display unit = factor·value + offset
pub(crate) fn display(unit: &str, display_unit: &str) -> Option<(f64, f64)> {
    if unit == display_unit {
        return Some((1.0, 0.0));
    }
    let (from, to) = (parse(unit)?, parse(display_unit)?);
    // Angles have the dimension one: Hz is shown for rad/s only if somebody says so, and then by the factor of the symbols.
    let is_same = from.powers[..7] == to.powers[..7];
    is_same.then(|| {
        (
            from.factor / to.factor,
            (from.offset - to.offset) / to.factor,
        )
    })
}

/// `product / product`
fn quotient(rest: &mut &str) -> Option<BaseUnit> {
    let above = product(rest)?;
    match rest.strip_prefix('/') {
        None => Some(above),
        Some(after) => {
            *rest = after;
            let below = product(rest)?;
            Some(combined(above, below, -1))
        }
    }
}

/// `factor.factor`
fn product(rest: &mut &str) -> Option<BaseUnit> {
    let mut unit = factor(rest)?;
    while let Some(after) = rest.strip_prefix('.') {
        *rest = after;
        unit = combined(unit, factor(rest)?, 1);
    }
    Some(unit)
}

/// A symbol or a group, with an exponent.
fn factor(rest: &mut &str) -> Option<BaseUnit> {
    let base = match rest.strip_prefix('(') {
        Some(inner) => {
            *rest = inner;
            let unit = quotient(rest)?;
            *rest = rest.strip_prefix(')')?;
            unit
        }
        None => {
            let is_letter = |c: char| c.is_alphabetic() || c == '%';
            let end = match rest.starts_with('1') {
                true => 1,
                false => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            };
            let (name, after) = rest.split_at(end);
            *rest = after;
            symbol(name)?
        }
    };
    let end = (rest.char_indices())
        .find(|&(k, c)| !(c.is_ascii_digit() || k == 0 && (c == '-' || c == '+')))
        .map_or(rest.len(), |(k, _)| k);
    let (exponent, after) = rest.split_at(end);
    *rest = after;
    match exponent {
        "" => Some(base),
        digits => Some(combined(ONE, base, digits.parse().ok()?)),
    }
}

/// `a`·`b`^`exponent`; offsets have no meaning in products.
fn combined(a: BaseUnit, b: BaseUnit, exponent: i32) -> BaseUnit {
    let mut powers = a.powers;
    for (power, other) in powers.iter_mut().zip(b.powers) {
        *power = power.saturating_add(other.saturating_mul(exponent));
    }
    BaseUnit {
        powers,
        factor: a.factor * b.factor.powi(exponent),
        offset: 0.0,
    }
}

fn symbol(name: &str) -> Option<BaseUnit> {
    let known = |name: &str, prefixed: bool| {
        let fits = |s: &&Symbol| s.0 == name && (!prefixed || s.4);
        let &(_, powers, factor, offset, _) = SYMBOLS.iter().find(fits)?;
        Some(BaseUnit {
            powers,
            factor,
            offset,
        })
    };
    known(name, false).or_else(|| {
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let unit = known(name.strip_prefix(prefix)?, true)?;
            Some(BaseUnit {
                factor: unit.factor * factor,
                ..unit
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_base_units() {
        let powers = |text: &str| parse(text).map(|unit| (unit.powers, unit.factor));
        assert_eq!(powers("kg.m2/s2"), powers("J"));
        assert_eq!(
            powers("N.m/(rad/s)"),
            Some(([1, 2, -1, 0, 0, 0, 0, -1], 1.0))
        );
        assert_eq!(powers("W/(m2.K)"), Some(([1, 0, -3, 0, -1, 0, 0, 0], 1.0)));
        assert_eq!(powers("1/K2"), Some(([0, 0, 0, 0, -2, 0, 0, 0], 1.0)));
        assert_eq!(powers("1"), Some(([0; 8], 1.0)));
        assert_eq!(powers("mm").map(|unit| unit.1), Some(1e-3));
        assert_eq!(powers("min").map(|unit| unit.1), Some(60.0));
        for wrong in ["furlong", "kg.", "m/", "(m", "m)", ""] {
            assert_eq!(powers(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn display_units_have_factor_and_offset() {
        let near = |unit, display_unit, value: f64, shown: f64| {
            let (factor, offset) = display(unit, display_unit).expect("the same dimension");
            assert!((factor * value + offset - shown).abs() < 1e-9 * (1.0 + shown.abs()));
        };
        near("rad", "deg", std::f64::consts::PI, 180.0);
        near("K", "degC", 293.15, 20.0);
        near("Pa", "bar", 101_325.0, 1.013_25);
        near("rad/s", "rev/min", std::f64::consts::PI, 30.0);
        near("J", "kW.h", 3.6e6, 1.0);
        near("m3/s", "l/min", 1e-3, 60.0);
        assert_eq!(display("K", "bar"), None);
        assert_eq!(display("K", "furlong"), None);
    }
}
