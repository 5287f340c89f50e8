//! Interned identifiers: a [`Name`] is a `u32` that is equal exactly when the text is equal.
//!
//! Reading a name's text takes no lock: texts live in tables of doubling size that are never moved. Interning
//! asks a table of the own thread first and takes the shared lock only for a text that is new to the thread.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt;
use std::sync::{LazyLock, Mutex, OnceLock};

/// An interned piece of text (identifier or dotted name). Cheap to copy, compare and hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

/// Table `k` holds `FIRST_TABLE << k` texts.
const FIRST_TABLE: u32 = 1024;
/// `FIRST_TABLE · (2^22 − 1)` texts in all: just under 2³².
const N_TABLES: usize = 22;

type Table = Box<[OnceLock<&'static str>]>;

static TEXTS: [OnceLock<Table>; N_TABLES] = [const { OnceLock::new() }; N_TABLES];
static IDS: LazyLock<Mutex<FxHashMap<&'static str, u32>>> = LazyLock::new(Default::default);

thread_local! {
    static KNOWN: RefCell<FxHashMap<&'static str, u32>> = RefCell::default();
}

/// Table and index in it of the text number `id`.
fn place(id: u32) -> (usize, usize) {
    let table = (id / FIRST_TABLE + 1).ilog2();
    (
        table as usize,
        (id - FIRST_TABLE * ((1 << table) - 1)) as usize,
    )
}

impl Name {
    /// Interns `text`. The text lives as long as the process.
    pub fn new(text: &str) -> Name {
        KNOWN.with_borrow_mut(|known| {
            if let Some(&id) = known.get(text) {
                return Name(id);
            }
            let (text, id) = intern(text);
            known.insert(text, id);
            Name(id)
        })
    }

    /// The text of this name.
    pub fn as_str(self) -> &'static str {
        let (table, index) = place(self.0);
        TEXTS[table]
            .get()
            .and_then(|texts| texts[index].get())
            .expect("a name's text is stored before the name is given out")
    }
}

fn intern(text: &str) -> (&'static str, u32) {
    let mut ids = IDS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some((&text, &id)) = ids.get_key_value(text) {
        return (text, id);
    }
    let id = u32::try_from(ids.len()).expect("fewer than 2^32 names");
    let (table, index) = place(id);
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let texts = TEXTS[table].get_or_init(|| {
        let len = (FIRST_TABLE as usize) << table;
        std::iter::repeat_with(OnceLock::new).take(len).collect()
    });
    texts[index].set(text).expect("each name is stored once");
    ids.insert(text, id);
    (text, id)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.as_str())
    }
}

/// Written as its text.
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct Reader;
        impl serde::de::Visitor<'_> for Reader {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a name")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
                Ok(Name::new(text))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// A text of the program itself: read back, it lives as long as the process.
pub type Text = &'static str;

/// For fields of type [`Text`]: `#[serde(with = "saltus_syntax::name::text")]`.
pub mod text {
    use super::{Name, Text};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(text: &Text, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        Name::deserialize(deserializer).map(Name::as_str)
    }
}

/// For fields of type `Option<Text>`.
pub mod optional_text {
    use super::{Name, Text};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(text: &Option<Text>, serializer: S) -> Result<S::Ok, S::Error> {
        text.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Text>, D::Error> {
        Ok(Option::<Name>::deserialize(deserializer)?.map(Name::as_str))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_ids_follow_each_other_without_gap() {
        let mut expected = (0, 0);
        for id in 0..10 * FIRST_TABLE {
            assert_eq!(place(id), expected, "id {id}");
            expected.1 += 1;
            if expected.1 == (FIRST_TABLE as usize) << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn threads_agree_on_names() {
        let names = || {
            (0..5000)
                .map(|i| Name::new(&format!("shared{}", i % 3000)))
                .collect::<Vec<_>>()
        };
        let others: Vec<Vec<Name>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..4).map(|_| scope.spawn(names)).collect();
            handles
                .into_iter()
                .map(|h| h.join().expect("no panic"))
                .collect()
        });
        for other in others {
            assert_eq!(other, names());
        }
        assert_eq!(Name::new("shared17").as_str(), "shared17");
    }
}
