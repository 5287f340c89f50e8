use crate::saltus;

#[test]
fn a_page_has_all_its_parts() {
    let list = saltus(&["explain"]);
    assert_eq!(list.exit, Some(0));
    let codes: Vec<&str> = list
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(codes.len() >= 32, "{} codes", codes.len());
    for code in codes {
        let ran = saltus(&["explain", code]);
        assert_eq!(ran.exit, Some(0), "{code}");
        let text = ran.stdout;
        assert!(text.starts_with(&format!("# {code}: ")), "{code}");
        for part in ["\n## Why\n", "\n## Example\n", "\n## Cure\n", "\n```\n"] {
            assert!(text.contains(part), "{code}: no {part:?}");
        }
    }
}

#[test]
fn a_code_may_be_copied_from_a_message() {
    let ran = saltus(&["explain", "error[unknown-name]:"]);
    assert!(ran.stdout.starts_with("# unknown-name"));
}

#[test]
fn an_unknown_code_names_its_neighbours() {
    let ran = saltus(&["explain", "unknown-thing"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("unknown-name"));
}
