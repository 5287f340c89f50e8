//! Maps and sets in what is written to a file: sorted, so that the same content gives the same bytes.

/// For `#[serde(with = "saltus_ir::stored::map")]`.
pub mod map {
    use rustc_hash::FxHashMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::hash::Hash;

    pub fn serialize<S: Serializer, K: Serialize + Ord, V: Serialize>(
        map: &FxHashMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<(&K, &V)> = map.iter().collect();
        entries.sort_by_key(|entry| entry.0);
        entries.serialize(serializer)
    }

    pub fn deserialize<'de, D, K, V>(deserializer: D) -> Result<FxHashMap<K, V>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

/// For `#[serde(with = "saltus_ir::stored::set")]`.
pub mod set {
    use rustc_hash::FxHashSet;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::hash::Hash;

    pub fn serialize<S: Serializer, K: Serialize + Ord>(
        set: &FxHashSet<K>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<&K> = set.iter().collect();
        entries.sort();
        entries.serialize(serializer)
    }

    pub fn deserialize<'de, D, K>(deserializer: D) -> Result<FxHashSet<K>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Eq + Hash,
    {
        Ok(Vec::<K>::deserialize(deserializer)?.into_iter().collect())
    }
}
