//! What annotations say: numbers, points, colours and texts of graphical items.
//!
//! Comes in: expressions as written. Goes out: plain values. Annotations hold literals, `DynamicSelect`, and references to parameters whose values are literals; those are read here.
//! What depends on more is unknown, and the item is drawn as if it said nothing. Nothing of a run is evaluated here.

use super::geometry::{Extent, Point, point};
use saltus_syntax::ast::{
    Argument, ArgumentKind, BinaryOp, CallArgs, ComponentRef, Expr, ExprKind, UnaryOp,
};

/// References that lead to references.
const DEPTH_MAX: usize = 8;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Known {
    Number(f64),
    Boolean(bool),
    Text(String),
    /// The last part of a name: a literal of an enumeration.
    Name(String),
    List(Vec<Option<Known>>),
}

/// The values of parameters.
pub(crate) trait Parameters {
    /// The expression that a parameter has, in the words of where it is written.
    fn parameter(&self, name: &str) -> Option<&Expr>;
}

/// No parameters are known.
pub(crate) struct Nothing;

impl Parameters for Nothing {
    fn parameter(&self, _: &str) -> Option<&Expr> {
        None
    }
}

pub(crate) fn known(expr: &Expr, of: &dyn Parameters) -> Option<Known> {
    read(expr, of, 0)
}

fn read(expr: &Expr, of: &dyn Parameters, depth: usize) -> Option<Known> {
    let inner = |expr: &Expr| read(expr, of, depth);
    Some(match &expr.kind {
        ExprKind::Integer(i) => Known::Number(*i as f64),
        ExprKind::Real(x) => Known::Number(*x),
        ExprKind::Boolean(b) => Known::Boolean(*b),
        ExprKind::String(text) => Known::Text(text.to_string()),
        ExprKind::Array(elements) => Known::List(elements.iter().map(inner).collect()),
        ExprKind::Ref(reference) => return referred(reference, of, depth),
        ExprKind::Unary(UnaryOp::Minus, x) => match inner(x)? {
            Known::Number(x) => Known::Number(-x),
            _ => return None,
        },
        ExprKind::Unary(UnaryOp::Plus, x) => inner(x)?,
        ExprKind::Unary(UnaryOp::Not, x) => match inner(x)? {
            Known::Boolean(b) => Known::Boolean(!b),
            _ => return None,
        },
        ExprKind::Binary(op, a, b) => return combined(*op, inner(a), inner(b)),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            for (condition, value) in branches {
                match inner(condition)? {
                    Known::Boolean(true) => return inner(value),
                    Known::Boolean(false) => {}
                    _ => return None,
                }
            }
            return inner(otherwise);
        }
        // What is shown while nothing runs comes first.
        ExprKind::Call { function, args } if is_called(function, "DynamicSelect") => {
            return inner(args.positional.first()?);
        }
        _ => return None,
    })
}

fn is_called(function: &ComponentRef, name: &str) -> bool {
    matches!(&function.parts[..], [part] if part.name.name.as_str() == name)
}

fn referred(reference: &ComponentRef, of: &dyn Parameters, depth: usize) -> Option<Known> {
    if depth >= DEPTH_MAX || reference.parts.iter().any(|p| !p.subscripts.is_empty()) {
        return None;
    }
    if let [part] = &reference.parts[..] {
        let expr = of.parameter(part.name.name.as_str())?;
        return read(expr, of, depth + 1);
    }
    let last = reference.parts.last()?;
    Some(Known::Name(last.name.name.to_string()))
}

fn combined(op: BinaryOp, a: Option<Known>, b: Option<Known>) -> Option<Known> {
    use Known::{Boolean, Number};
    // One side may decide.
    match (op, &a, &b) {
        (BinaryOp::And, Some(Boolean(false)), _) | (BinaryOp::And, _, Some(Boolean(false))) => {
            return Some(Boolean(false));
        }
        (BinaryOp::Or, Some(Boolean(true)), _) | (BinaryOp::Or, _, Some(Boolean(true))) => {
            return Some(Boolean(true));
        }
        _ => {}
    }
    let (a, b) = (a?, b?);
    Some(match (op, &a, &b) {
        (BinaryOp::Eq, _, _) => Boolean(a == b),
        (BinaryOp::Ne, _, _) => Boolean(a != b),
        (BinaryOp::And, Boolean(a), Boolean(b)) => Boolean(*a && *b),
        (BinaryOp::Or, Boolean(a), Boolean(b)) => Boolean(*a || *b),
        (BinaryOp::Add, Known::Text(a), Known::Text(b)) => Known::Text(format!("{a}{b}")),
        (BinaryOp::Add, Number(a), Number(b)) => Number(a + b),
        (BinaryOp::Sub, Number(a), Number(b)) => Number(a - b),
        (BinaryOp::Mul, Number(a), Number(b)) => Number(a * b),
        (BinaryOp::Div, Number(a), Number(b)) => Number(a / b),
        (BinaryOp::Lt, Number(a), Number(b)) => Boolean(a < b),
        (BinaryOp::Le, Number(a), Number(b)) => Boolean(a <= b),
        (BinaryOp::Gt, Number(a), Number(b)) => Boolean(a > b),
        (BinaryOp::Ge, Number(a), Number(b)) => Boolean(a >= b),
        _ => return None,
    })
}

impl Known {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Known::Number(x) if x.is_finite() => Some(*x),
            _ => None,
        }
    }

    fn list(&self) -> Option<&[Option<Known>]> {
        match self {
            Known::List(elements) => Some(elements),
            _ => None,
        }
    }

    pub(crate) fn point(&self) -> Option<Point> {
        match self.list()? {
            [Some(x), Some(y)] => Some(point(x.number()?, y.number()?)),
            _ => None,
        }
    }

    pub(crate) fn extent(&self) -> Option<Extent> {
        match self.list()? {
            [Some(from), Some(to)] => Some(Extent {
                from: from.point()?,
                to: to.point()?,
            }),
            _ => None,
        }
    }

    pub(crate) fn points(&self) -> Option<Vec<Point>> {
        let points = self.list()?.iter().map(|p| p.as_ref()?.point());
        points.collect()
    }

    /// `rgb(…)`
    pub(crate) fn colour(&self) -> Option<String> {
        match self.list()? {
            [Some(r), Some(g), Some(b)] => {
                let part = |x: &Known| Some(x.number()?.clamp(0.0, 255.0).round() as u8);
                Some(format!("#{:02x}{:02x}{:02x}", part(r)?, part(g)?, part(b)?))
            }
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Known::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Known::List(list) => (list.iter()).filter_map(|x| x.as_ref()?.name()).collect(),
            Known::Name(name) => vec![name],
            _ => Vec::new(),
        }
    }
}

/// What an item says, by name: `Line(points = …, color = …)`.
pub(crate) struct Item<'a> {
    pub(crate) name: &'a str,
    args: &'a CallArgs,
}

impl<'a> Item<'a> {
    pub(crate) fn of(expr: &'a Expr) -> Option<Item<'a>> {
        match &expr.kind {
            ExprKind::Call { function, args } => Some(Item {
                name: function.parts.last()?.name.name.as_str(),
                args,
            }),
            _ => None,
        }
    }

    pub(crate) fn new(name: &'a str, args: &'a CallArgs) -> Item<'a> {
        Item { name, args }
    }

    pub(crate) fn value(&self, name: &str, of: &dyn Parameters) -> Option<Known> {
        let found = self
            .args
            .named
            .iter()
            .find(|(n, _)| n.name.as_str() == name);
        known(&found?.1, of)
    }
}

/// The modification `name = value` or `name(…)` among arguments.
pub(crate) fn argument<'a>(
    arguments: &'a [Argument],
    name: &str,
) -> Option<(&'a [Argument], Option<&'a Expr>)> {
    arguments.iter().find_map(|argument| match &argument.kind {
        ArgumentKind::Modify {
            path, modification, ..
        } if path.parts.len() == 1 && path.parts[0].name.as_str() == name => {
            let modification = modification.as_ref();
            Some((
                modification.map_or(&[][..], |m| &m.args[..]),
                modification.and_then(|m| m.value.as_ref()),
            ))
        }
        _ => None,
    })
}

/// A literal value `name = …` among arguments.
pub(crate) fn literal(arguments: &[Argument], name: &str) -> Option<Known> {
    known(argument(arguments, name)?.1?, &Nothing)
}
