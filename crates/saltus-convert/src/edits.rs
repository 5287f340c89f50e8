//! Changes of a text: pieces of it with what takes their place.

use saltus_syntax::Span;

/// `text` takes the place of the bytes from `start` to `end`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit {
            start: span.start as usize,
            end: span.end as usize,
            text: text.into(),
        }
    }

    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Edit {
        Edit {
            start: at,
            end: at,
            text: text.into(),
        }
    }
}

/// The text with all edits and their number. Of those that overlap the first counts: several components of one declaration change their type once.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> (String, usize) {
    edits.sort_by_key(|edit| (edit.start, std::cmp::Reverse(edit.end)));
    edits.dedup();
    let mut out = String::with_capacity(text.len());
    let (mut done, mut n) = (0, 0);
    for edit in edits {
        if edit.start < done {
            continue;
        }
        out.push_str(&text[done..edit.start]);
        out.push_str(&edit.text);
        done = edit.end;
        n += 1;
    }
    out.push_str(&text[done..]);
    (out, n)
}

/// The part of `text` at `span` with the edits that lie in it.
pub(crate) fn apply_within(text: &str, span: Span, edits: Vec<Edit>) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    let inside = |edit: Edit| {
        (edit.start >= start && edit.end <= end).then(|| Edit {
            start: edit.start - start,
            end: edit.end - start,
            text: edit.text,
        })
    };
    apply(
        &text[start..end],
        edits.into_iter().filter_map(inside).collect(),
    )
    .0
}
