//! Patterns that select variables by name (`--variables`).

/// A pattern: `*` stands for any text, dots included, `?` for one character; everything else, brackets too, is
/// itself, because `a[1,2]` is an ordinary name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob {
    pattern: Vec<char>,
}

impl Glob {
    pub fn new(pattern: &str) -> Glob {
        Glob {
            pattern: pattern.chars().collect(),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        let text: Vec<char> = name.chars().collect();
        let pattern = &self.pattern;
        let (mut p, mut t) = (0, 0);
        // Where to go on if the text after the last star does not fit: the star and the text it has not eaten.
        let mut retry: Option<(usize, usize)> = None;
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    retry = Some((p, t));
                    p += 1;
                }
                Some(&c) if c == '?' || c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => match retry {
                    Some((star, eaten)) => {
                        retry = Some((star, eaten + 1));
                        p = star + 1;
                        t = eaten + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}
