//! Whether a name fits the naming convention `structured` (FMI 2.0.4, section 2.2.9): identifiers with subscripts, joined by points; `der(…)` around.

pub(super) fn is_structured(name: &str) -> bool {
    let inner = match name
        .strip_prefix("der(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        None => name,
        Some(inner) => match inner.rsplit_once(',') {
            Some((inner, order)) if is_number(order) => inner,
            _ => inner,
        },
    };
    is_identifier(inner)
}

fn is_identifier(mut rest: &str) -> bool {
    loop {
        let Some(after) = basic(rest).and_then(subscripts) else {
            return false;
        };
        if after.is_empty() {
            return true;
        }
        let Some(next) = after.strip_prefix('.') else {
            return false;
        };
        rest = next;
    }
}

/// What follows a name without points.
fn basic(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('\'') {
        return quoted_rest(quoted);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts.then(|| &text[end..])
}

/// What follows the closing quote; letters of other scripts are not allowed inside.
fn quoted_rest(text: &str) -> Option<&str> {
    const OTHERS: &str = "!#$%&()*+,-./:;<>=?@[]^{}|~ _";
    let end = text.find('\'')?;
    let (inside, rest) = text.split_at(end);
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || OTHERS.contains(c);
    (!inside.is_empty() && inside.chars().all(is_allowed)).then(|| &rest[1..])
}

/// What follows `[1,2]`, if that is there.
fn subscripts(text: &str) -> Option<&str> {
    let Some(inside) = text.strip_prefix('[') else {
        return Some(text);
    };
    let (numbers, rest) = inside.split_once(']')?;
    numbers.split(',').all(is_number).then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_structured;

    #[test]
    fn names_of_modelica_are_structured_and_others_are_not() {
        for name in [
            "x",
            "a.b[2].c[1,3]",
            "der(x)",
            "der(a.b[1])",
            "der(x,2)",
            "'a b'.c",
            "_1",
        ] {
            assert!(is_structured(name), "{name}");
        }
        for name in [
            "",
            "a..b",
            "a[]",
            "a[i]",
            "1a",
            "$x",
            "der(x",
            "a b",
            "'ä'",
            "der(der(x))",
            "a[1",
            "''",
        ] {
            assert!(!is_structured(name), "{name}");
        }
    }
}
