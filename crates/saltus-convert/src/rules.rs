//! The rules of conversion scripts (specification 18.8.2.1): a sequence of calls of `convertClass`, `convertClassIf`, `convertElement`,
//! `convertModifiers` and `convertMessage` with literal strings, or arrays of them, in any order.

use rustc_hash::FxHashMap;
use saltus_syntax::ast::{CallArgs, ClassBody, Expr, ExprKind, SectionKind, StatementKind};
use saltus_syntax::{Diagnostic, FileId, parse};

/// `convertClassIf`: another class where a modifier has a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassIf {
    pub(crate) element: String,
    pub(crate) value: String,
    pub(crate) new: String,
}

/// `convertModifiers`: old names with their defaults, and new modifiers with `%old%` for the old values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Modifiers {
    pub(crate) old: Vec<(String, Option<String>)>,
    pub(crate) new: Vec<String>,
}

/// `convertMessage`, for a class or for one of its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) element: Option<String>,
}

/// What scripts say, by the old name of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    pub(crate) classes: FxHashMap<String, String>,
    pub(crate) class_ifs: FxHashMap<String, Vec<ClassIf>>,
    pub(crate) elements: FxHashMap<String, Vec<(String, String)>>,
    pub(crate) modifiers: FxHashMap<String, Vec<Modifiers>>,
    pub(crate) messages: FxHashMap<String, Vec<Message>>,
}

impl Rules {
    /// Reads a script. What cannot be read is an error with the name of the call: a rule that is left out would leave the text half converted.
    pub fn read(script: &str) -> Result<Rules, Box<Diagnostic>> {
        let text = format!("function script\nalgorithm\n{}\nend script;", ended(script));
        let parsed = parse(FileId(0), &text);
        if let Some(error) = parsed.diagnostics.into_iter().find(Diagnostic::is_error) {
            return Err(Box::new(error));
        }
        let mut rules = Rules::default();
        for class in &parsed.definition.classes {
            let ClassBody::Composition { parts, .. } = &class.body else {
                continue;
            };
            for section in &parts.sections {
                let SectionKind::Algorithm(statements) = &section.kind else {
                    continue;
                };
                for statement in statements {
                    if let StatementKind::Call(call) = &statement.kind {
                        rules.add(call)?;
                    }
                }
            }
        }
        Ok(rules)
    }

    pub fn is_empty(&self) -> bool {
        *self == Rules::default()
    }

    fn add(&mut self, call: &Expr) -> Result<(), Box<Diagnostic>> {
        let ExprKind::Call { function, args } = &call.kind else {
            return Ok(());
        };
        let [part] = function.parts.as_slice() else {
            return Ok(());
        };
        let name = part.name.name.as_str();
        let wrong = || {
            Box::new(
                Diagnostic::placeless(
                    "wrong-argument",
                    format!("a call of `{name}` in the conversion script cannot be understood"),
                )
                .help("its arguments are literal strings or arrays of them"),
            )
        };
        let lists = arguments(args).ok_or_else(wrong)?;
        match (name, lists.as_slice()) {
            ("convertClass", [old, new]) => {
                for [old, new] in rows([old, new]) {
                    self.classes.insert(old, new);
                }
            }
            ("convertClassIf", [old, element, value, new]) => {
                for [old, element, value, new] in rows([old, element, value, new]) {
                    let rule = ClassIf {
                        element,
                        value,
                        new,
                    };
                    self.class_ifs.entry(old).or_default().push(rule);
                }
            }
            ("convertElement", [class, old, new]) => self.add_elements(class, old, new),
            ("convertModifiers", [class, old, new, ..]) => self.add_modifiers(class, old, new),
            ("convertMessage", [class, text]) => {
                for [class, text] in rows([class, text]) {
                    self.add_message(class, text, None);
                }
            }
            ("convertMessage", [class, text, element]) => {
                for [class, text, element] in rows([class, text, element]) {
                    self.add_message(class, text, Some(element));
                }
            }
            ("convertClear", _) => {}
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Elements of several classes, or several elements: every class gets each pair of names, unless all lists have one length.
    fn add_elements(&mut self, class: &List, old: &List, new: &List) {
        let per_class = class.len() > 1 && class.len() == old.len();
        for (k, class) in class.texts().iter().enumerate() {
            let pairs = rows([old, new]);
            for (i, [old, new]) in pairs.into_iter().enumerate() {
                if per_class && i != k {
                    continue;
                }
                if new.is_empty() {
                    // The older way to say that a modifier goes (18.8.2.1).
                    let rule = Modifiers {
                        old: vec![(old, None)],
                        new: Vec::new(),
                    };
                    self.modifiers.entry(class.clone()).or_default().push(rule);
                } else {
                    let elements = self.elements.entry(class.clone()).or_default();
                    elements.push((old, new));
                }
            }
        }
    }

    fn add_modifiers(&mut self, class: &List, old: &List, new: &List) {
        let with_default = |text: &String| match text.split_once('=') {
            // `cardinality(a)=0` has no value.
            Some((name, default)) => (name.trim().to_owned(), Some(default.trim().to_owned())),
            None => (text.trim().to_owned(), None),
        };
        let rule = Modifiers {
            old: old.texts().iter().map(with_default).collect(),
            new: new.texts().to_vec(),
        };
        for class in class.texts() {
            let of_class = self.modifiers.entry(class.clone()).or_default();
            of_class.push(rule.clone());
        }
    }

    fn add_message(&mut self, class: String, text: String, element: Option<String>) {
        let of_class = self.messages.entry(class).or_default();
        of_class.push(Message { text, element });
    }
}

/// A literal string or an array of them.
enum List {
    One([String; 1]),
    Many(Vec<String>),
}

impl List {
    fn texts(&self) -> &[String] {
        match self {
            List::One(text) => text,
            List::Many(texts) => texts,
        }
    }

    fn len(&self) -> usize {
        self.texts().len()
    }
}

fn arguments(args: &CallArgs) -> Option<Vec<List>> {
    let mut lists: Vec<List> = Vec::new();
    for arg in &args.positional {
        match &arg.kind {
            // `simplify`.
            ExprKind::Boolean(_) => {}
            _ => lists.push(list(arg)?),
        }
    }
    (args
        .named
        .iter()
        .all(|(name, _)| name.name.as_str() == "simplify"))
    .then_some(lists)
}

fn list(e: &Expr) -> Option<List> {
    match &e.kind {
        ExprKind::String(text) => Some(List::One([text.to_string()])),
        ExprKind::Array(elements) => {
            let text = |e: &Expr| match &e.kind {
                ExprKind::String(text) => Some(text.to_string()),
                _ => None,
            };
            Some(List::Many(
                elements.iter().map(text).collect::<Option<_>>()?,
            ))
        }
        // `fill("", 0)` is the empty list.
        ExprKind::Call { function, .. } if function.parts[0].name.name.as_str() == "fill" => {
            Some(List::Many(Vec::new()))
        }
        _ => None,
    }
}

/// Lists of one length, row by row; single strings stand in every row (12.4.6).
fn rows<const N: usize>(lists: [&List; N]) -> Vec<[String; N]> {
    let n = (lists.iter())
        .filter(|list| matches!(list, List::Many(_)))
        .map(|list| list.len())
        .max()
        .unwrap_or(1);
    (0..n)
        .filter_map(|row| {
            let texts: Option<Vec<String>> = (lists.iter())
                .map(|list| match list {
                    List::One([text]) => Some(text.clone()),
                    List::Many(texts) => texts.get(row).cloned(),
                })
                .collect();
            texts?.try_into().ok()
        })
        .collect()
}

/// The script with a semicolon after each call: it is recommended, but not required.
fn ended(script: &str) -> String {
    let mut out = String::with_capacity(script.len() + 64);
    let mut depth = 0u32;
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => string_end(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |i| i + 2),
            _ => c.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !rest.trim_start().starts_with(';') {
                    out.push(';');
                }
            }
            _ => {}
        }
    }
    out
}

/// The length of the string that `text` begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}
