//! `comparisonSignals.txt` of the Modelica Association's reference results: one name per line.

/// The names in order, without `time`, blank lines and lines that begin with `//`.
pub fn parse_comparison_signals(text: &str) -> Vec<String> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(|line| line.trim().trim_matches('"'))
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .filter(|line| !line.eq_ignore_ascii_case("time"))
        .map(str::to_owned)
        .collect()
}
