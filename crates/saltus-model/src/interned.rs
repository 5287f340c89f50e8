//! Texts of the program itself in what is written to a file: read back, they live as long as the process, each once.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A text of the program, for fields of what is written to a file.
pub type Text = &'static str;

static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The one text of this content.
pub fn intern(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text);
    text
}

/// For `#[serde(with = "saltus_model::interned")]`.
pub fn serialize<S: Serializer>(text: &&'static str, serializer: S) -> Result<S::Ok, S::Error> {
    text.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    Ok(intern(&String::deserialize(deserializer)?))
}
