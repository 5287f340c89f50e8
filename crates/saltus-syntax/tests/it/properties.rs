//! Whatever comes in: no panic, at most fifty messages, every span in the text, and a message if the printed
//! tree could not be complete. `SALTUS_PROPTEST_CASES` sets the number of cases.

use crate::parse_named;
use proptest::prelude::*;
use saltus_syntax::{Span, lexer, print_ast, render, render_json};

const CASES_DEFAULT: u32 = 2000;

/// Pieces from which soup is made: all tokens, and some whole constructs.
const PIECES: &[&str] = &[
    "algorithm",
    "and",
    "annotation",
    "block",
    "break",
    "class",
    "connect",
    "connector",
    "constant",
    "constrainedby",
    "der",
    "discrete",
    "each",
    "else",
    "elseif",
    "elsewhen",
    "encapsulated",
    "end",
    "enumeration",
    "equation",
    "expandable",
    "extends",
    "external",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "impure",
    "in",
    "initial",
    "inner",
    "input",
    "loop",
    "model",
    "not",
    "operator",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "protected",
    "public",
    "pure",
    "record",
    "redeclare",
    "replaceable",
    "return",
    "stream",
    "then",
    "true",
    "type",
    "when",
    "while",
    "within",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    ":=",
    "=",
    "==",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "^",
    ".+",
    ".-",
    ".*",
    "./",
    ".^",
    "x",
    "M",
    "'q i'",
    "1",
    "2.5",
    "1e",
    "\"s\"",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
    "ü",
    "$",
    "model M",
    "end M;",
    "end if;",
    "end for;",
    "Real x;",
    "x = 1;",
    "x := 1;",
    "annotation(a = 1);",
    "\\",
];

const SNIPPETS: &[&str] = &[
    include_str!("../../test_data/ok/algorithms.mo"),
    include_str!("../../test_data/ok/annotations.mo"),
    include_str!("../../test_data/ok/class_extends.mo"),
    include_str!("../../test_data/ok/components.mo"),
    include_str!("../../test_data/ok/equations.mo"),
    include_str!("../../test_data/ok/expressions.mo"),
    include_str!("../../test_data/ok/external.mo"),
    include_str!("../../test_data/ok/imports.mo"),
    include_str!("../../test_data/ok/modifiers.mo"),
    include_str!("../../test_data/ok/operator_record.mo"),
    include_str!("../../test_data/ok/short_classes.mo"),
    include_str!("../../test_data/ok/strings.mo"),
    include_str!("../../test_data/err/unclosed_if.mo"),
    include_str!("../../test_data/err/unknown_characters.mo"),
];

/// Checks all properties for one text.
fn check(text: &str) {
    let (sources, parsed) = parse_named("property.mo", text);
    assert!(parsed.diagnostics.len() <= 50);
    for diagnostic in &parsed.diagnostics {
        let primary = diagnostic.primary.as_ref().expect("a place");
        check_span(primary.span, text);
        diagnostic
            .secondary
            .iter()
            .for_each(|label| check_span(label.span, text));
        render(diagnostic, &sources);
        render_json(diagnostic, &sources);
    }
    check_spans_of_tree(&format!("{:?}", parsed.definition), text);
    let printed = print_ast(&parsed.definition);
    if !parsed.diagnostics.iter().any(|d| d.is_error()) {
        let (_, again) = parse_named("printed.mo", &printed);
        assert!(
            !again.diagnostics.iter().any(|d| d.is_error()),
            "printed form does not parse:\n{printed}"
        );
        assert_eq!(print_ast(&again.definition), printed);
    }
    check_tokens(text);
}

fn check_span(span: Span, text: &str) {
    let range = span.start as usize..span.end as usize;
    assert!(
        text.get(range).is_some(),
        "{span:?} is not a range of the text"
    );
}

/// Finds the spans in the debug form, which shows every span of the tree.
fn check_spans_of_tree(debug: &str, text: &str) {
    for piece in debug.split("Span { file: FileId(0), start: ").skip(1) {
        let (start, rest) = piece.split_once(", end: ").expect("the form of a span");
        let end = rest.split_once(' ').expect("the form of a span").0;
        let (start, end) = (start.parse::<usize>(), end.parse::<usize>());
        let (Ok(start), Ok(end)) = (start, end) else {
            continue;
        };
        assert!(
            text.get(start..end).is_some(),
            "{start}..{end} is not a range of the text"
        );
    }
}

/// Tokens lie in order, do not overlap, and reach the end.
fn check_tokens(text: &str) {
    let mut lexer = lexer::Lexer::new(saltus_syntax::FileId(0), text);
    let mut last_end = 0;
    loop {
        let token = lexer.next_token();
        assert!(
            token.start >= last_end && text.get(token.start as usize..token.end as usize).is_some()
        );
        last_end = token.end;
        if token.kind == lexer::TokenKind::Eof {
            assert_eq!(token.end as usize, text.len());
            return;
        }
        assert!(token.end > token.start);
    }
}

/// Deletes, doubles or replaces pieces of a snippet.
fn mutate(snippet: &str, edits: &[(usize, usize, usize)]) -> String {
    let mut chars: Vec<char> = snippet.chars().collect();
    for &(at, len, piece) in edits {
        let at = at % (chars.len() + 1);
        let end = (at + len).min(chars.len());
        let piece = match piece % (PIECES.len() + 2) {
            i if i < PIECES.len() => PIECES[i].chars().collect(),
            i if i == PIECES.len() => Vec::new(),
            _ => chars[at..end].repeat(2),
        };
        chars.splice(at..end, piece);
    }
    chars.into_iter().collect()
}

fn config() -> ProptestConfig {
    let cases = std::env::var("SALTUS_PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(CASES_DEFAULT),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_text_is_survived(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn arbitrary_printable_text_is_survived(text in "[ -~\n]{0,200}") {
        check(&text);
    }

    #[test]
    fn token_soup_is_survived(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120)) {
        check(&pieces.join(" "));
        check(&format!("model M {}", pieces.join(" ")));
        check(&format!("model M equation x = {}", pieces.join("")));
    }

    #[test]
    fn mutated_sources_are_survived(
        snippet in prop::sample::select(SNIPPETS),
        edits in prop::collection::vec((any::<usize>(), 0usize..8, any::<usize>()), 1..6),
    ) {
        check(&mutate(snippet, &edits));
    }
}
