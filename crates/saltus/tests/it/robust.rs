//! Hostile input: a message and an end in reasonable time, never a panic.

use crate::mdtest::diagnose;
use saltus::{Error, Session};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// What a case may take.
const SECONDS_MAX: Duration = Duration::from_secs(60);

/// Runs with a bound on time; a panic of the compiler is a panic here.
fn bounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    match receiver.recv_timeout(SECONDS_MAX) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("no answer within {} s", SECONDS_MAX.as_secs())
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(worker.join().expect_err("the worker sent nothing"))
        }
    }
}

/// Codes of the errors for a text, each once, in order.
fn codes(text: impl Into<String>) -> Vec<&'static str> {
    let text = text.into();
    bounded(move || {
        let mut codes = diagnose(&text).1.error_codes();
        codes.dedup();
        codes
    })
}

fn load(name: &str, bytes: &[u8]) -> Result<String, Vec<&'static str>> {
    let file = temporary(name);
    std::fs::write(&file, bytes).expect("the temporary folder can be written");
    let loaded = bounded({
        let file = file.clone();
        move || {
            Session::new()
                .load_file(&file)
                .map_err(|error| match error {
                    Error::Model(diagnostics) => diagnostics.error_codes(),
                    other => panic!("{other}"),
                })
        }
    });
    std::fs::remove_file(&file).expect("it was written above");
    loaded
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("saltus-{}-{name}", std::process::id()))
}

#[test]
fn binary_data_is_not_text() {
    let bytes: Vec<u8> = (0..100_000u32)
        .map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    assert_eq!(load("binary.mo", &bytes), Err(vec!["not-utf8"]));
}

#[test]
fn text_that_is_not_utf8_says_so() {
    assert_eq!(
        load(
            "latin1.mo",
            b"model M\n  Real x = 1 \"gr\xfc\xdfe\";\nend M;\n"
        ),
        Err(vec!["not-utf8"])
    );
}

#[test]
fn an_empty_file_has_no_class() {
    assert_eq!(load("empty.mo", b""), Err(vec!["unknown-class"]));
    assert_eq!(
        load("blank.mo", b" \n // nothing\n"),
        Err(vec!["unknown-class"])
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = Session::new()
        .load_file("no/such/file.mo")
        .expect_err("it does not exist");
    assert!(error.to_string().contains("no/such/file.mo"), "{error}");
}

#[test]
fn control_characters_are_errors() {
    let codes = codes("model M\n  Real x = \0\u{1}\u{7f};\nend M;\n");
    assert!(codes.contains(&"unknown-character"), "{codes:?}");
}

#[test]
fn ten_thousand_parentheses() {
    let text = format!(
        "model M\n  Real x = {}1{};\nend M;\n",
        "(".repeat(10_000),
        ")".repeat(10_000)
    );
    assert_eq!(codes(text), ["nesting-too-deep"]);
}

#[test]
fn ten_thousand_open_parentheses() {
    let codes = codes(format!("model M\n  Real x = {}", "(".repeat(10_000)));
    assert!(codes.contains(&"nesting-too-deep"), "{codes:?}");
}

#[test]
fn ten_thousand_nested_arrays() {
    let text = format!(
        "model M\n  Real x = {}1{};\nend M;\n",
        "{".repeat(10_000),
        "}".repeat(10_000)
    );
    assert_eq!(codes(text), ["nesting-too-deep"]);
}

#[test]
fn ten_thousand_nested_ifs() {
    let text = format!(
        "model M\n  Real x;\nequation\n{}x = 1;{}\nend M;\n",
        "if true then ".repeat(10_000),
        " end if;".repeat(10_000)
    );
    assert_eq!(codes(text), ["nesting-too-deep"]);
}

#[test]
fn ten_thousand_nested_classes() {
    let codes = codes("model A ".repeat(10_000));
    assert!(codes.contains(&"nesting-too-deep"), "{codes:?}");
}

#[test]
fn a_long_sum_is_no_problem() {
    let text = format!("model M\n  Real x = time{};\nend M;\n", " + 1".repeat(500));
    assert_eq!(codes(text), Vec::<&str>::new());
}

#[test]
fn an_endless_sum_is_refused() {
    let text = format!(
        "model M\n  Real x = time{};\nend M;\n",
        " + 1".repeat(100_000)
    );
    assert_eq!(codes(text), ["nesting-too-deep"]);
}

#[test]
fn recursive_extends() {
    assert_eq!(
        codes("model A extends B; end A; model B extends C; end B; model C extends A; end C;"),
        ["recursive-extends"]
    );
}

#[test]
fn recursive_short_classes() {
    assert_eq!(
        codes("model A = B; model B = A; model M A a; end M;"),
        ["recursive-extends"]
    );
}

#[test]
fn a_component_of_its_own_class() {
    assert_eq!(
        codes("model M Real x = 1; M m; end M;"),
        ["recursive-instance"]
    );
}

#[test]
fn components_that_contain_each_other() {
    assert_eq!(
        codes("model A M b; end A; model M A a; end M;"),
        ["recursive-instance"]
    );
}

#[test]
fn a_constant_that_needs_itself() {
    assert_eq!(
        codes("model M constant Integer n = n; Real x[n]; end M;"),
        ["cyclic-parameters"]
    );
}

#[test]
fn a_function_that_calls_itself_for_ever() {
    let codes = codes(
        "function f input Integer n; output Integer y; algorithm y := f(n + 1); end f;
         model M parameter Integer n = f(1); Real x[n] = ones(n); end M;",
    );
    assert_eq!(codes, ["not-constant"]);
}

#[test]
fn an_import_of_itself() {
    let codes =
        codes("package P import P.P; model A Real x = 1; end A; end P; model M P.A a; end M;");
    assert_eq!(codes, Vec::<&str>::new());
}

#[test]
fn a_long_line_is_no_problem() {
    let text = format!(
        "model M Real x = 1 \"{}\"; Real y = z; end M;",
        "long ".repeat(200_000)
    );
    assert_eq!(codes(text), ["unknown-name"]);
}

#[test]
fn many_errors() {
    let text: String = (0..300)
        .map(|k| format!("  Real x{k} = unknown{k};\n"))
        .collect();
    assert_eq!(codes(format!("model M\n{text}end M;\n")), ["unknown-name"]);
}

/// FIXME: these have no end today, or fill the memory; they run only when `SALTUS_ENDLESS` is set.
mod endless {
    use super::codes;

    fn check(text: &str, expected: &[&str]) {
        if std::env::var_os("SALTUS_ENDLESS").is_some() {
            assert_eq!(codes(text), expected);
        }
    }

    /// Grows like 2^n without a bound on the number of instances.
    #[test]
    fn components_that_contain_two_of_themselves() {
        check(
            "model M Real x = 1; M a; M b; end M;",
            &["recursive-instance"],
        );
    }

    #[test]
    fn a_very_large_array() {
        check(
            "model M Real x[1000000, 1000000]; equation for i in 1:3 loop x[i, i] = 1; end for; end M;",
            &["array-too-large"],
        );
    }

    #[test]
    fn a_very_large_value() {
        check(
            "model M Real x = sum(zeros(1000000, 1000000)); end M;",
            &["array-too-large"],
        );
    }

    #[test]
    fn a_function_that_never_returns() {
        check(
            "function f input Integer n; output Integer y; algorithm y := 0; while n > 0 loop y := 1 - y; end while; end f;
             model M parameter Integer n = f(1); Real x[n] = ones(n); end M;",
            &["not-constant"],
        );
    }

    /// Names that are looked for are compared with all that are known: 5000 × 5000.
    #[test]
    fn very_many_errors() {
        let text: String = (0..5_000)
            .map(|k| format!("  Real x{k} = unknown{k};\n"))
            .collect();
        check(&format!("model M\n{text}end M;\n"), &["unknown-name"]);
    }
}
