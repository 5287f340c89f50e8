//! The class tree: classes by name, files parsed at the first lookup into them.
//!
//! A directory package is known from names alone (directory listing and `package.order`); its `package.mo` and the files of its
//! classes are parsed when something asks for their text. Files are read and parsed through [`Files`], which may keep trees from one compilation to the next.

use crate::versions::{self, Wish};
use indexmap::IndexMap;
use saltus_ir::ids::{Id, IdVec};
use saltus_syntax::ast;
use saltus_syntax::{Diagnostic, Name, ParsedFile, SourceMap, Span};
use std::sync::Arc;
use typed_arena::Arena;

/// A class known to the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl Id for NodeId {
    fn from_index(index: usize) -> Self {
        NodeId(u32::try_from(index).expect("fewer than 2^32 classes"))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Reading files and directories; the facade implements it.
pub trait Files {
    /// The tree of a file. Two files of one compilation have different numbers.
    fn parsed(&self, path: &str) -> Result<Arc<ParsedFile>, Box<Diagnostic>>;
    /// Entries of a directory: name and whether it is a directory. Sorted by name.
    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String>;
    fn is_dir(&self, path: &str) -> bool;
    fn is_file(&self, path: &str) -> bool;
}

enum Source {
    /// Inside its parent's text, or the root.
    Inline,
    /// A file not yet parsed.
    File(String),
    /// A directory with `package.mo`, not yet parsed.
    Directory(String),
}

struct Node<'a> {
    name: Name,
    parent: Option<NodeId>,
    def: Option<&'a ast::ClassDef>,
    source: Source,
    children: IndexMap<Name, NodeId>,
}

/// Where trees of files are held while a class tree points into them; outlives it.
pub type FileArena = Arena<Arc<ast::StoredDefinition>>;

pub struct ClassTree<'a> {
    arena: &'a FileArena,
    files: &'a dyn Files,
    /// Directories that contain libraries, in order of priority.
    libraries: Vec<String>,
    nodes: IdVec<NodeId, Node<'a>>,
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    /// Files whose trees are in use.
    pub n_files: usize,
    pub seconds_parsing: f64,
    /// Measures seconds; given by the facade.
    clock: &'a dyn Fn() -> f64,
    missing: rustc_hash::FxHashSet<Name>,
    /// Versions of libraries that top-level classes ask for, by library, in the order found.
    wishes: IndexMap<Name, Vec<Wish>>,
    /// Where libraries were found.
    found: IndexMap<Name, String>,
}

pub const ROOT: NodeId = NodeId(0);

impl<'a> ClassTree<'a> {
    pub fn new(
        arena: &'a FileArena,
        files: &'a dyn Files,
        libraries: Vec<String>,
        clock: &'a dyn Fn() -> f64,
    ) -> Self {
        let mut nodes = IdVec::default();
        nodes.push(Node {
            name: Name::new(""),
            parent: None,
            def: None,
            source: Source::Inline,
            children: IndexMap::new(),
        });
        ClassTree {
            arena,
            files,
            libraries,
            nodes,
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            n_files: 0,
            seconds_parsing: 0.0,
            clock,
            missing: Default::default(),
            wishes: IndexMap::new(),
            found: IndexMap::new(),
        }
    }

    /// Parses text and adds its classes; returns the qualified names of the top-level classes of the text.
    pub fn add_source(&mut self, name: &str, text: String) -> Vec<(Name, NodeId)> {
        let file = self.sources.add(name, text);
        let source = self.sources.shared(file);
        self.add_parsed(&ParsedFile::new(file, source))
    }

    /// Adds the classes of a file; returns the qualified names of its top-level classes.
    pub fn add_parsed(&mut self, parsed: &ParsedFile) -> Vec<(Name, NodeId)> {
        let definition = self.keep(parsed);
        let mut parent = ROOT;
        if let Some(Some(within)) = &definition.within {
            for part in &within.parts {
                parent = match self.child(parent, part.name) {
                    Some(node) => node,
                    None => self.add_node(part.name, parent, None, Source::Inline),
                };
            }
        }
        let mut added = Vec::new();
        for class in &definition.classes {
            let node = self.add_node(class.name.name, parent, None, Source::Inline);
            self.set_def(node, class);
            added.push((self.qualified_name(node), node));
        }
        added
    }

    /// The tree of a file becomes part of this one.
    fn keep(&mut self, parsed: &ParsedFile) -> &'a ast::StoredDefinition {
        self.sources.insert(parsed.file, parsed.source.clone());
        self.diagnostics.extend_from_slice(&parsed.diagnostics);
        self.n_files += 1;
        self.arena.alloc(parsed.definition.clone())
    }

    /// Keeps a declaration that no text contains as long as those that texts contain.
    pub fn keep_declaration(&self, decl: ast::ComponentDecl) -> &'a ast::ComponentDecl {
        let span = decl.span;
        let class = ast::ClassDef {
            name: decl.name,
            span,
            encapsulated: false,
            partial: false,
            purity: ast::Purity::Unstated,
            restriction: ast::Restriction::Model,
            body: ast::ClassBody::Composition {
                class_extends: None,
                is_class_extends: false,
                parts: ast::Composition {
                    elements: vec![ast::Element {
                        visibility: ast::Visibility::Public,
                        span,
                        kind: ast::ElementKind::Component(decl.into()),
                    }],
                    sections: Vec::new(),
                    external: None,
                },
            },
            description: None,
            annotation: None,
        };
        let stored: &'a ast::StoredDefinition = self.arena.alloc(Arc::new(ast::StoredDefinition {
            within: None,
            classes: vec![class.into()],
        }));
        match &stored.classes[0].body {
            ast::ClassBody::Composition { parts, .. } => match &parts.elements[0].kind {
                ast::ElementKind::Component(decl) => decl,
                _ => unreachable!("made above"),
            },
            _ => unreachable!("made above"),
        }
    }

    fn add_node(
        &mut self,
        name: Name,
        parent: NodeId,
        def: Option<&'a ast::ClassDef>,
        source: Source,
    ) -> NodeId {
        let node = self.nodes.push(Node {
            name,
            parent: Some(parent),
            def,
            source,
            children: IndexMap::new(),
        });
        self.nodes[parent].children.insert(name, node);
        node
    }

    /// Sets the text of a node and adds the classes nested in it.
    fn set_def(&mut self, node: NodeId, def: &'a ast::ClassDef) {
        self.nodes[node].def = Some(def);
        self.nodes[node].source = Source::Inline;
        if self.nodes[node].parent == Some(ROOT) {
            self.check_versions(node, def);
        }
        let mut todo = vec![(node, def)];
        while let Some((node, def)) = todo.pop() {
            let ast::ClassBody::Composition { parts, .. } = &def.body else {
                continue;
            };
            for element in &parts.elements {
                if let ast::ElementKind::Class { def: inner, .. } = &element.kind {
                    let child = self.add_node(inner.name.name, node, Some(inner), Source::Inline);
                    todo.push((child, inner));
                }
            }
        }
    }

    /// Compares what a top-level class asks for with libraries that are there, and what others ask of it with what it is.
    fn check_versions(&mut self, node: NodeId, def: &'a ast::ClassDef) {
        let name = self.nodes[node].name;
        let mut misfits = Vec::new();
        if let Some(wishes) = self.wishes.get(&name) {
            let place = self.place_of(name, def);
            misfits.extend((wishes.iter()).filter_map(|w| versions::misfit(w, def, &place)));
        }
        for (library, wish) in versions::wishes(def) {
            let there = self.nodes[ROOT].children.get(&library);
            if let Some(text) = there.and_then(|&node| self.nodes[node].def) {
                let place = self.place_of(library, text);
                misfits.extend(versions::misfit(&wish, text, &place));
            }
            self.wishes.entry(library).or_default().push(wish);
        }
        self.diagnostics.extend(misfits);
    }

    /// The folder or file of a top-level class.
    fn place_of(&self, name: Name, def: &ast::ClassDef) -> String {
        match self.found.get(&name) {
            Some(folder) => folder.clone(),
            None => self.sources.file(def.span.file).name.clone(),
        }
    }

    pub fn name(&self, node: NodeId) -> Name {
        self.nodes[node].name
    }

    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node].parent
    }

    pub fn qualified_name(&self, node: NodeId) -> Name {
        let mut parts = Vec::new();
        let mut at = Some(node);
        while let Some(n) = at {
            if n != ROOT {
                parts.push(self.nodes[n].name.as_str());
            }
            at = self.nodes[n].parent;
        }
        parts.reverse();
        Name::new(&parts.join("."))
    }

    /// The text of a class, parsed now if need be. `None` for the root and for files that could not be read.
    pub fn def(&mut self, node: NodeId) -> Option<&'a ast::ClassDef> {
        match std::mem::replace(&mut self.nodes[node].source, Source::Inline) {
            Source::Inline => {}
            Source::File(path) => self.load(node, &path),
            Source::Directory(path) => self.load(node, &format!("{path}/package.mo")),
        }
        self.nodes[node].def
    }

    fn load(&mut self, node: NodeId, path: &str) {
        let start = (self.clock)();
        let parsed = self.files.parsed(path);
        self.seconds_parsing += (self.clock)() - start;
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return;
            }
        };
        let definition = self.keep(&parsed);
        let wanted = self.nodes[node].name;
        match definition
            .classes
            .iter()
            .find(|c| c.name.name == wanted)
            .or(definition.classes.first())
        {
            Some(class) => self.set_def(node, class),
            None => {
                let span = Span::new(parsed.file, 0, 0);
                let message = format!("`{path}` contains no class, expected `{wanted}`");
                self.diagnostics
                    .push(Diagnostic::error("unknown-class", span, message));
            }
        }
    }

    /// A class directly inside `node`, without parsing it.
    pub fn child(&mut self, node: NodeId, name: Name) -> Option<NodeId> {
        if node == ROOT {
            return self.top_level(name);
        }
        self.def(node);
        self.nodes[node].children.get(&name).copied()
    }

    /// Names of all classes directly inside a node.
    pub fn children(&mut self, node: NodeId) -> Vec<(Name, NodeId)> {
        self.def(node);
        self.nodes[node]
            .children
            .iter()
            .map(|(n, c)| (*n, *c))
            .collect()
    }

    fn top_level(&mut self, name: Name) -> Option<NodeId> {
        if let Some(&node) = self.nodes[ROOT].children.get(&name) {
            return Some(node);
        }
        if self.missing.contains(&name) {
            return None;
        }
        let found = self.installed(name);
        if let Some(path) = self.choose(name, found) {
            self.found.insert(name, path.clone());
            return Some(if self.files.is_file(&format!("{path}/package.mo")) {
                self.add_directory(name, ROOT, path)
            } else {
                self.add_node(name, ROOT, None, Source::File(path))
            });
        }
        self.missing.insert(name);
        None
    }

    /// All folders and files of a library, in the order of the folders that are searched: in each the one without version in its name, then the newest.
    fn installed(&self, name: Name) -> Vec<String> {
        let mut found = Vec::new();
        for library in &self.libraries {
            let mut add = |entry: &str| {
                let folder = format!("{library}/{entry}");
                let file = format!("{folder}.mo");
                if self.files.is_file(&format!("{folder}/package.mo")) {
                    found.push(folder);
                } else if self.files.is_file(&file) {
                    found.push(file);
                }
            };
            add(name.as_str());
            let entries = self.files.list(library).unwrap_or_default();
            let prefix = format!("{name} ");
            let mut versions: Vec<&str> = (entries.iter())
                .map(|(entry, _)| entry.strip_suffix(".mo").unwrap_or(entry))
                .filter_map(|entry| entry.strip_prefix(&prefix))
                .collect();
            versions.sort_by(|a, b| versions::compare(b, a));
            versions.dedup();
            for version in versions {
                add(&format!("{name} {version}"));
            }
        }
        found
    }

    /// The library to take, if several are installed: that of the version asked for, then one that takes texts for that version as they are, then the first.
    fn choose(&mut self, name: Name, found: Vec<String>) -> Option<String> {
        let wish = (self.wishes.get(&name)).and_then(|wishes| wishes.first());
        let (Some(wish), true) = (wish, found.len() > 1) else {
            return found.into_iter().next();
        };
        let named = format!("/{name} {}", wish.version);
        let is_named = |path: &&String| path.strip_suffix(".mo").unwrap_or(path).ends_with(&named);
        if let Some(path) = found.iter().find(is_named) {
            return Some(path.clone());
        }
        let fit = |path: &String| {
            let package = format!("{path}/package.mo");
            let is_folder = self.files.is_file(&package);
            // What cannot be read is reported when it is taken.
            let parsed = self.files.parsed(if is_folder { &package } else { path });
            let parsed = parsed.ok()?;
            let class = parsed.definition.classes.first()?;
            versions::fit(&wish.version, class)
        };
        let best = (found.iter().enumerate())
            .filter_map(|(i, path)| Some((fit(path)?, i)))
            .min();
        let at = best.map_or(0, |(_, i)| i);
        found.into_iter().nth(at)
    }

    fn add_directory(&mut self, name: Name, parent: NodeId, dir: String) -> NodeId {
        let entries = self.files.list(&dir).unwrap_or_default();
        let node = self.add_node(name, parent, None, Source::Directory(dir.clone()));
        for (entry, is_dir) in entries {
            if is_dir {
                if self.files.is_file(&format!("{dir}/{entry}/package.mo")) {
                    self.add_directory(Name::new(&entry), node, format!("{dir}/{entry}"));
                }
            } else if let Some(class) = entry.strip_suffix(".mo").filter(|c| *c != "package") {
                self.add_node(
                    Name::new(class),
                    node,
                    None,
                    Source::File(format!("{dir}/{entry}")),
                );
            }
        }
        node
    }

    /// The text of the class has been parsed.
    pub fn is_read(&self, node: NodeId) -> bool {
        self.nodes[node].def.is_some()
    }

    /// Names of the libraries in the folders that are searched.
    pub fn installed_names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        for library in &self.libraries {
            for (entry, is_dir) in self.files.list(library).unwrap_or_default() {
                let is_library = match is_dir {
                    true => self.files.is_file(&format!("{library}/{entry}/package.mo")),
                    false => entry.ends_with(".mo"),
                };
                if is_library {
                    let bare = entry.strip_suffix(".mo").unwrap_or(&entry);
                    names.push(Name::new(bare.split(' ').next().unwrap_or(bare)));
                }
            }
        }
        names
    }

    /// Names known at the top level, for suggestions.
    pub fn top_level_names(&self) -> Vec<Name> {
        self.nodes[ROOT].children.keys().copied().collect()
    }

    /// The directory of the top-level package that contains `node`, for `modelica://` URIs; `None` for plain sources.
    pub fn library_dirs(&self) -> &[String] {
        &self.libraries
    }
}
