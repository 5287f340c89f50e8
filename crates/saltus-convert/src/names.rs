//! What the rules make of a qualified name: the longest class that a rule names decides (specification 18.8.2.1).

use crate::rules::{Message, Rules};

impl Rules {
    /// The new name of `old`, a class of the library or something in one, by its qualified old name.
    pub(crate) fn renamed(&self, old: &str) -> String {
        let parts: Vec<&str> = old.split('.').collect();
        for n in (1..=parts.len()).rev() {
            let class = parts[..n].join(".");
            // What comes after the class are its elements, and theirs.
            let rest = self.renamed_elements(&class, &parts[n..]);
            match (self.classes.get(&class), rest) {
                (Some(new), rest) => {
                    return joined(new, &rest.unwrap_or_else(|| owned(&parts[n..])));
                }
                (None, Some(rest)) => return joined(&self.renamed(&class), &rest),
                (None, None) => {}
            }
        }
        old.to_owned()
    }

    /// The new names of the elements `path` of a class, if a rule concerns them: the longest old name first.
    pub(crate) fn renamed_elements(&self, class: &str, path: &[&str]) -> Option<Vec<String>> {
        let rules = self.elements.get(class)?;
        for n in (1..=path.len()).rev() {
            let old = path[..n].join(".");
            if let Some((_, new)) = rules.iter().find(|(o, _)| *o == old) {
                let mut names: Vec<String> = new.split('.').map(str::to_owned).collect();
                names.extend(owned(&path[n..]));
                return Some(names);
            }
        }
        None
    }

    /// What `convertMessage` says of a class or of one around it.
    pub(crate) fn message(&self, class: &str) -> Option<&str> {
        let parts: Vec<&str> = class.split('.').collect();
        (1..=parts.len()).rev().find_map(|n| {
            let class = parts[..n].join(".");
            if self.classes.contains_key(&class) {
                return None;
            }
            let of_class = |m: &&Message| m.element.is_none();
            let found = self.messages.get(&class)?.iter().find(of_class)?;
            Some(found.text.as_str())
        })
    }

    /// What `convertMessage` says of an element of a class.
    pub(crate) fn element_message(&self, class: &str, element: &str) -> Option<&str> {
        let of_element = |m: &&Message| m.element.as_deref() == Some(element);
        let found = self.messages.get(class)?.iter().find(of_element)?;
        Some(found.text.as_str())
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn joined(class: &str, rest: &[String]) -> String {
    let mut name = class.to_owned();
    for part in rest {
        name.push('.');
        name.push_str(part);
    }
    name
}
