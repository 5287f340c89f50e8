//! Input that is too deep, too long or no text at all must neither overflow the stack nor take long.

use crate::parse_named;
use std::time::{Duration, Instant};

/// Generous for a slow machine; quadratic behaviour takes far longer.
const TIME_MAX: Duration = Duration::from_secs(20);

fn codes(text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let (_, parsed) = parse_named("limit.mo", text);
    assert!(start.elapsed() < TIME_MAX, "took {:?}", start.elapsed());
    parsed.diagnostics.iter().map(|d| d.code).collect()
}

fn equation(expr: &str) -> String {
    format!("model M\nequation\n  x = {expr};\nend M;\n")
}

#[test]
fn nested_parentheses_are_limited() {
    let nested = |n: usize| equation(&format!("{}a{}", "(".repeat(n), ")".repeat(n)));
    assert_eq!(codes(&nested(200)), [""; 0]);
    assert_eq!(codes(&nested(10_000)), ["nesting-too-deep"]);
    assert_eq!(codes(&equation(&"(".repeat(10_000))), ["nesting-too-deep"]);
}

#[test]
fn every_kind_of_nesting_is_limited() {
    let n = 10_000;
    let deep = [
        equation(&format!("{}a{}", "{".repeat(n), "}".repeat(n))),
        equation(&format!("{}a{}", "[".repeat(n), "]".repeat(n))),
        equation(&format!("{}a{}", "f(".repeat(n), ")".repeat(n))),
        equation(&format!("{}a{}", "x[".repeat(n), "]".repeat(n))),
        equation(&format!(
            "{}a{}",
            "f(function g(y = ".repeat(n),
            "))".repeat(n)
        )),
        equation(&format!("{}a", "if b then c else ".repeat(n))),
        equation(&format!("{}a", "if ".repeat(n))),
        equation(&format!("{}a{}", "-(".repeat(n), ")".repeat(n))),
        format!("model M A a{}b{}; end M;", "(a".repeat(n), ")".repeat(n)),
        format!("model M A a{};", "(redeclare A b".repeat(n)),
        format!("model M A a{};", "(redeclare model A = B".repeat(n)),
        format!("model M equation {}", "if a then ".repeat(n)),
        format!("model M equation {}", "for i loop ".repeat(n)),
        format!("model M equation {}", "when a then ".repeat(n)),
        format!("model M algorithm {}", "while a loop ".repeat(n)),
        format!("model M algorithm {}", "if a then ".repeat(n)),
        (0..n).map(|i| format!("model M{i} ")).collect::<String>(),
        "model extends M ".repeat(n),
        format!("model M annotation{}", "(a".repeat(n)),
    ];
    for text in deep {
        assert_eq!(codes(&text), ["nesting-too-deep"], "{}…", &text[..60]);
    }
}

#[test]
fn long_chains_of_operators_are_limited() {
    let chain = |n: usize| equation(&format!("a{}", " + a".repeat(n)));
    assert_eq!(codes(&chain(900)), [""; 0]);
    assert_eq!(codes(&chain(100_000)), ["nesting-too-deep"]);
    // Chains inside parentheses add up.
    let towers = (0..200).fold("a".to_owned(), |tower, _| {
        format!("({tower}{})", " + a".repeat(100))
    });
    assert_eq!(codes(&equation(&towers)), ["nesting-too-deep"]);
}

#[test]
fn long_flat_lists_are_not_limited() {
    let n = 100_000;
    assert_eq!(
        codes(&equation(&format!("{{a{}}}", ", a".repeat(n)))),
        [""; 0]
    );
    assert_eq!(codes(&equation(&format!("a{}", ".a".repeat(n)))), [""; 0]);
    assert_eq!(
        codes(&equation(&format!(
            "if a then b {}else c",
            "elseif a then b ".repeat(n)
        ))),
        [""; 0]
    );
    assert_eq!(
        codes(&format!("model M Real x;{} end M;", "Real y;".repeat(n))),
        [""; 0]
    );
}

#[test]
fn messages_per_file_are_limited() {
    let text = format!("model M\n{}end M;\n", "  Real 3;\n".repeat(100_000));
    let (_, parsed) = parse_named("many.mo", &text);
    assert_eq!(parsed.diagnostics.len(), 50);
    let last = parsed.diagnostics.last().expect("fifty messages");
    assert_eq!(
        last.notes,
        ["the rest of the file is not checked after 50 messages"]
    );
}

#[test]
fn megabytes_of_junk_take_linear_time() {
    let size = 4 << 20;
    // A linear congruential generator (constants of Knuth's MMIX).
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..size).map(|_| random()).collect();
    codes(&String::from_utf8_lossy(&bytes));
    codes(
        &bytes
            .iter()
            .map(|b| (b % 95 + 32) as char)
            .collect::<String>(),
    );
    for unit in [
        "(", ")", "\"", "'", "/*", "\\", "\u{1}", "ü ", "end ", "end x;", "model ", "a b ", ";",
        "[;", "= ", "1e ", "$ ",
    ] {
        codes(&unit.repeat(size / unit.len()));
        codes(&format!(
            "model M equation x = {}",
            unit.repeat(size / unit.len())
        ));
    }
}
