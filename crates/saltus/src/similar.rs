//! Names that may be meant by one that is not there.

use std::cmp::Reverse;

/// So many names are shown.
const SHOWN: usize = 3;
/// Letters that may differ: one, and one more for so many.
const LETTERS_PER_SLIP: usize = 3;

/// The names closest to one that was not found, best first: those that end with it, those with the same last part, those that differ by few letters.
pub(crate) fn similar<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let allowed = 1 + wanted.chars().count() / LETTERS_PER_SLIP;
    let mut ranked: Vec<(usize, usize, &str)> = names
        .filter_map(|name| {
            Some((
                rank(&wanted, &name.to_lowercase(), allowed)?,
                name.len(),
                name,
            ))
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.truncate(SHOWN);
    ranked.into_iter().map(|(_, _, name)| name).collect()
}

/// The names that come nearest to a pattern without match: those that hold its longest plain part, else as [`similar`].
pub(crate) fn similar_to_pattern<'n>(
    pattern: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Vec<&'n str> {
    let plain = |c: char| c == '*' || c == '?';
    let parts = pattern.split(plain).filter(|part| !part.is_empty());
    let longest = parts
        .min_by_key(|part| Reverse(part.len()))
        .unwrap_or(pattern);
    let lower = longest.to_lowercase();
    let holding = names
        .clone()
        .filter(|name| name.to_lowercase().contains(&lower));
    let mut found: Vec<&str> = holding.take(SHOWN).collect();
    if found.is_empty() {
        found = similar(longest, names);
    }
    found
}

/// Smaller is nearer; `None`: not near.
fn rank(wanted: &str, name: &str, allowed: usize) -> Option<usize> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.ends_with('.'))
    };
    if wanted == name {
        return Some(0);
    }
    let distance = edit_distance(wanted, name);
    if distance <= allowed.min(2) {
        return Some(distance);
    }
    if ends(name, wanted) || ends(wanted, name) {
        return Some(3);
    }
    if last(wanted) == last(name) && (wanted.contains('.') || name.contains('.')) {
        return Some(4 + distance);
    }
    (distance <= allowed).then_some(4 + distance)
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// `; did you mean …?`, or nothing.
pub(crate) fn hint(similar: &[&str]) -> String {
    let [first, rest @ ..] = similar else {
        return String::new();
    };
    let mut text = format!("; did you mean `{first}`");
    for name in rest {
        text.push_str(&format!(" or `{name}`"));
    }
    text.push('?');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_slips_and_last_parts_are_near() {
        let names = ["drive.motor.J", "drive.load.J", "x", "v", "speed", "Speed2"];
        let near = |wanted: &str| similar(wanted, names.into_iter());
        assert_eq!(near("motor.J"), ["drive.motor.J", "drive.load.J"]);
        assert_eq!(near("sped"), ["speed", "Speed2"]);
        assert_eq!(near("SPEED"), ["speed", "Speed2"]);
        assert!(near("temperature").is_empty());
    }

    #[test]
    fn patterns_are_near_to_what_holds_their_plain_part() {
        let names = ["drive.motor.J", "drive.load.J", "height"];
        let near = |pattern: &str| similar_to_pattern(pattern, names.into_iter());
        assert_eq!(near("*Motor?"), ["drive.motor.J"]);
        assert_eq!(near("heigth*"), ["height"]);
    }
}
