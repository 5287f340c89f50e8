//! The classes of the user's texts, and which class of the library a name in them leads to (specification 5.3, as far as it needs no class of the library).

use indexmap::IndexMap;
use saltus_syntax::ast::{
    ClassBody, ClassDef, ComponentDecl, Composition, ElementKind, Extends, ImportKind, Path,
    StoredDefinition,
};

/// Base classes are followed so far: longer chains go in a circle.
const DEPTH_MAX: u32 = 24;

/// A class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Of the library, by its old qualified name.
    Library(String),
    /// Of the user, by its qualified name.
    User(String),
}

/// What a first name stands for.
pub(crate) enum Found<'a> {
    Class(Class),
    /// With the class that declares it.
    Component(&'a ComponentDecl, String),
}

/// A name that leads into the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Led {
    pub(crate) class: Class,
    /// How many names had been read when the library was entered, and where it was: `Modelica.SIunits` for `SI.Length` with `import SI = Modelica.SIunits`.
    pub(crate) n: usize,
    pub(crate) entry: Option<String>,
}

pub(crate) struct Symbols<'a> {
    classes: IndexMap<String, &'a ClassDef>,
    library: String,
}

impl<'a> Symbols<'a> {
    pub(crate) fn new(
        definitions: impl Iterator<Item = &'a StoredDefinition>,
        library: &str,
    ) -> Symbols<'a> {
        let mut symbols = Symbols {
            classes: IndexMap::new(),
            library: library.to_owned(),
        };
        for definition in definitions {
            let within = within(definition);
            for class in &definition.classes {
                symbols.add(&within, class);
            }
        }
        symbols
    }

    fn add(&mut self, around: &str, class: &'a ClassDef) {
        let name = inside(around, class.name.name.as_str());
        for element in elements(class) {
            if let ElementKind::Class { def, .. } = &element.kind {
                self.add(&name, def);
            }
        }
        self.classes.insert(name, class);
    }

    /// What `name` stands for in `scope`, a class of the user.
    pub(crate) fn find(&self, scope: &str, name: &str) -> Option<Found<'a>> {
        self.find_at(scope, name, 0)
    }

    fn find_at(&self, scope: &str, name: &str, depth: u32) -> Option<Found<'a>> {
        let mut at = scope;
        loop {
            if let Some(found) = self.member_at(at, name, depth) {
                return Some(found);
            }
            let class = self.classes.get(at)?;
            if let Some(found) = self.imported(class, name) {
                return Some(found);
            }
            match at.rsplit_once('.') {
                Some((around, _)) if !class.encapsulated => at = around,
                _ => break,
            }
            if !self.classes.contains_key(at) {
                break;
            }
        }
        self.top(name).map(Found::Class)
    }

    fn top(&self, name: &str) -> Option<Class> {
        if self.classes.contains_key(name) {
            Some(Class::User(name.to_owned()))
        } else if name == self.library {
            Some(Class::Library(name.to_owned()))
        } else {
            None
        }
    }

    /// An element of a class, or of one that it inherits from.
    pub(crate) fn member(&self, class: &str, name: &str) -> Option<Found<'a>> {
        self.member_at(class, name, 0)
    }

    fn member_at(&self, class: &str, name: &str, depth: u32) -> Option<Found<'a>> {
        let nested = inside(class, name);
        if self.classes.contains_key(&nested) {
            return Some(Found::Class(Class::User(nested)));
        }
        let def = *self.classes.get(class)?;
        for element in elements(def) {
            if let ElementKind::Component(decl) = &element.kind
                && decl.name.name.as_str() == name
            {
                return Some(Found::Component(decl, class.to_owned()));
            }
        }
        if depth > DEPTH_MAX {
            return None;
        }
        self.bases(class, depth)
            .into_iter()
            .find_map(|base| match base {
                Class::User(base) if base != class => self.member_at(&base, name, depth + 1),
                // A short class or an extends clause that leads into the library: the name may be there.
                Class::Library(base) if matches!(def.body, ClassBody::Short { .. }) => {
                    Some(Found::Class(Class::Library(inside(&base, name))))
                }
                _ => None,
            })
    }

    fn imported(&self, class: &ClassDef, name: &str) -> Option<Found<'a>> {
        for element in elements(class) {
            let ElementKind::Import(import) = &element.kind else {
                continue;
            };
            let path = match &import.kind {
                ImportKind::Qualified(path) => {
                    let last = path.parts.last()?;
                    (last.name.as_str() == name).then(|| text(path))
                }
                ImportKind::Renamed(new, path) => (new.name.as_str() == name).then(|| text(path)),
                ImportKind::Group(path, names) => (names.iter())
                    .any(|n| n.name.as_str() == name)
                    .then(|| inside(&text(path), name)),
                ImportKind::Wildcard(path) => {
                    let nested = inside(&text(path), name);
                    self.classes.contains_key(&nested).then_some(nested)
                }
            };
            if let Some(path) = path {
                return self.absolute(&path).map(Found::Class);
            }
        }
        None
    }

    /// The class that a fully qualified name leads to.
    pub(crate) fn absolute(&self, path: &str) -> Option<Class> {
        let mut parts = path.split('.');
        let first = self.top(parts.next()?)?;
        parts.try_fold(first, |class, name| match class {
            Class::Library(class) => Some(Class::Library(inside(&class, name))),
            Class::User(class) => match self.member(&class, name)? {
                Found::Class(class) => Some(class),
                Found::Component(..) => None,
            },
        })
    }

    /// The class that `names` lead to in `scope`.
    pub(crate) fn lead(&self, scope: &str, names: &[&str]) -> Option<Led> {
        self.lead_at(scope, names, 0)
    }

    fn lead_at(&self, scope: &str, names: &[&str], depth: u32) -> Option<Led> {
        let (first, rest) = names.split_first()?;
        let Found::Class(mut class) = self.find_at(scope, first, depth)? else {
            return None;
        };
        let mut entered = match &class {
            Class::Library(class) => Some((1, class.clone())),
            Class::User(_) => None,
        };
        for (i, name) in rest.iter().enumerate() {
            class = match class {
                Class::Library(class) => Class::Library(inside(&class, name)),
                Class::User(class) => match self.member_at(&class, name, depth)? {
                    Found::Class(class) => class,
                    Found::Component(..) => return None,
                },
            };
            if let (None, Class::Library(class)) = (&entered, &class) {
                // A class of the user stands for the one around, whatever that is called.
                let around = class.rsplit_once('.').map_or("", |(around, _)| around);
                entered = Some((i + 1, around.to_owned()));
            }
        }
        let (n, entry) = entered.map_or((names.len(), None), |(n, entry)| (n, Some(entry)));
        Some(Led { class, n, entry })
    }

    /// The direct base classes of a class of the user. Their names are not looked up in base classes (7.1.1).
    fn bases(&self, class: &str, depth: u32) -> Vec<Class> {
        let Some(def) = self.classes.get(class) else {
            return Vec::new();
        };
        let paths: Vec<&Path> = match &def.body {
            ClassBody::Short { base, .. } => vec![base],
            _ => extends(def).map(|e| &e.base).collect(),
        };
        if depth > DEPTH_MAX {
            return Vec::new();
        }
        let around = class.rsplit_once('.').map_or("", |(around, _)| around);
        let base = |path: &&Path| {
            let names: Vec<&str> = path.parts.iter().map(|p| p.name.as_str()).collect();
            if let Some(Found::Class(found)) = self.imported(def, names[0]) {
                return match found {
                    Class::Library(library) => Some(Class::Library(joined(&library, &names[1..]))),
                    Class::User(user) => self.absolute(&joined(&user, &names[1..])),
                };
            }
            match around.is_empty() {
                true => self.absolute(&names.join(".")),
                false => Some(self.lead_at(around, &names, depth + 1)?.class),
            }
        };
        paths.iter().filter_map(base).collect()
    }

    /// The classes of the library that a class is or inherits from, by their old names.
    pub(crate) fn of_library(&self, class: &Class) -> Vec<String> {
        let mut found = Vec::new();
        self.add_of_library(class, 0, &mut found);
        found
    }

    fn add_of_library(&self, class: &Class, depth: u32, found: &mut Vec<String>) {
        match class {
            Class::Library(name) if !found.contains(name) => found.push(name.clone()),
            Class::User(name) if depth <= DEPTH_MAX => {
                for base in self.bases(name, depth) {
                    self.add_of_library(&base, depth + 1, found);
                }
            }
            _ => {}
        }
    }
}

/// `within A.B;`
pub(crate) fn within(definition: &StoredDefinition) -> String {
    (definition.within.as_ref()).map_or(String::new(), |path| {
        path.as_ref().map_or(String::new(), text)
    })
}

/// The name of something in a class.
pub(crate) fn inside(class: &str, name: &str) -> String {
    match class.is_empty() {
        true => name.to_owned(),
        false => format!("{class}.{name}"),
    }
}

fn joined(class: &str, names: &[&str]) -> String {
    names
        .iter()
        .fold(class.to_owned(), |class, name| inside(&class, name))
}

pub(crate) fn text(path: &Path) -> String {
    let parts: Vec<&str> = path.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}

fn composition(class: &ClassDef) -> Option<&Composition> {
    match &class.body {
        ClassBody::Composition { parts, .. } => Some(parts),
        _ => None,
    }
}

fn elements(class: &ClassDef) -> impl Iterator<Item = &saltus_syntax::ast::Element> {
    composition(class)
        .into_iter()
        .flat_map(|parts| &parts.elements)
}

fn extends(class: &ClassDef) -> impl Iterator<Item = &Extends> {
    elements(class).filter_map(|element| match &element.kind {
        ElementKind::Extends(extends) => Some(extends),
        _ => None,
    })
}
