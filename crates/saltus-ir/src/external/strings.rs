//! `ModelicaStrings_*`: scanning and comparing text. Positions count characters from 1.

/// The characters from `start` to `end`, both included.
pub fn substring(text: &str, start: i64, end: i64) -> Result<String, String> {
    let n = text.chars().count() as i64;
    if start < 1 || end > n || start > end {
        return Err(format!(
            "substring({start}, {end}) of a text with {n} characters"
        ));
    }
    Ok(text
        .chars()
        .skip(start as usize - 1)
        .take((end - start + 1) as usize)
        .collect())
}

/// 1 less, 2 equal, 3 greater, as in `Modelica.Utilities.Types.Compare`.
pub fn compare(a: &str, b: &str, case_sensitive: bool) -> i64 {
    let order = if case_sensitive {
        a.cmp(b)
    } else {
        a.to_lowercase().cmp(&b.to_lowercase())
    };
    match order {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => 2,
        std::cmp::Ordering::Greater => 3,
    }
}

fn from(text: &str, start: i64) -> Vec<char> {
    if start < 1 {
        Vec::new()
    } else {
        text.chars().skip(start as usize - 1).collect()
    }
}

/// Index of the first character at or after `start` that is not white space.
pub fn skip_white_space(text: &str, start: i64) -> i64 {
    let start = start.max(1);
    start
        + from(text, start)
            .iter()
            .take_while(|c| c.is_whitespace())
            .count() as i64
}

/// A token after white space: index after it and its text; the start and nothing if there is none.
fn token(text: &str, start: i64, length: impl Fn(&[char]) -> usize) -> (i64, String) {
    let begin = skip_white_space(text, start);
    let chars = from(text, begin);
    let n = length(&chars);
    if n == 0 {
        (start, String::new())
    } else {
        (begin + n as i64, chars[..n].iter().collect())
    }
}

fn digits(chars: &[char]) -> usize {
    chars.iter().take_while(|c| c.is_ascii_digit()).count()
}

fn sign(chars: &[char], unsigned: bool) -> usize {
    usize::from(!unsigned && matches!(chars.first(), Some('+' | '-')))
}

/// Index after the number and the number; the start index and 0 if there is none.
pub fn scan_integer(text: &str, start: i64, unsigned: bool) -> (i64, i64) {
    let (next, word) = token(text, start, |c| {
        let s = sign(c, unsigned);
        let n = digits(&c[s..]);
        // A number with a fraction or an exponent is no Integer.
        let real = matches!(c.get(s + n), Some('.' | 'e' | 'E'));
        if n == 0 || real { 0 } else { s + n }
    });
    match word.trim_start_matches('+').parse() {
        Ok(number) => (next, number),
        Err(_) => (start, 0),
    }
}

pub fn scan_real(text: &str, start: i64, unsigned: bool) -> (i64, f64) {
    let (next, word) = token(text, start, |c| {
        let s = sign(c, unsigned);
        let mut n = s + digits(&c[s..]);
        let whole = n > s;
        let mut fraction = 0;
        if c.get(n) == Some(&'.') {
            fraction = digits(&c[n + 1..]);
            if whole || fraction > 0 {
                n += 1 + fraction;
            }
        }
        if !whole && fraction == 0 {
            return 0;
        }
        if matches!(c.get(n), Some('e' | 'E')) {
            let t = sign(&c[n + 1..], false);
            let exponent = digits(&c[n + 1 + t..]);
            if exponent > 0 {
                n += 1 + t + exponent;
            }
        }
        n
    });
    match word.parse() {
        Ok(number) if next > start => (next, number),
        _ => (start, 0.0),
    }
}

/// A text in double quotes, without them.
pub fn scan_string(text: &str, start: i64) -> (i64, String) {
    let (next, word) = token(text, start, |c| {
        if c.first() != Some(&'"') {
            return 0;
        }
        let mut escaped = false;
        for (i, &ch) in c.iter().enumerate().skip(1) {
            if escaped {
                escaped = false;
            } else if ch == '\\' {
                escaped = true;
            } else if ch == '"' {
                return i + 1;
            }
        }
        0
    });
    let inner = word
        .strip_prefix('"')
        .and_then(|w| w.strip_suffix('"'))
        .unwrap_or("")
        .to_string();
    (next, inner)
}

pub fn scan_identifier(text: &str, start: i64) -> (i64, String) {
    token(text, start, |c| match c.first() {
        Some(first) if first.is_ascii_alphabetic() => c
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
            .count(),
        _ => 0,
    })
}

/// A 32-bit hash (Arash Partow's AP hash, from 0xAAAAAAAA).
pub fn hash(text: &str) -> i64 {
    let mut hash: u32 = 0xAAAA_AAAA;
    for (i, byte) in text.bytes().enumerate() {
        let c = u32::from(byte);
        hash ^= if i % 2 == 0 {
            (hash << 7) ^ c.wrapping_mul(hash >> 3)
        } else {
            !((hash << 11).wrapping_add(c ^ (hash >> 5)))
        };
    }
    i64::from(hash as i32)
}
