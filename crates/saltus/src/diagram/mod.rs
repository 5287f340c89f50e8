//! Icons and diagrams of classes, from their graphical annotations (specification 18.6), as SVG.
//!
//! Comes in: the name of a class. Goes out: a picture whose parts name the components they stand for. Drawn are the graphics of the class and of its bases, components by their
//! placement with the icons of their classes and the connectors on them, and connection lines. Conditional components are left out where their condition is known to be
//! false. Nothing is flattened, so a class is drawn while it is being written.

mod geometry;
mod look;
mod shapes;
mod values;

use crate::browse::{find, own_annotation};
use crate::session::Session;
use geometry::{Affine, Extent, Point};
use look::{Declared, Look};
use rustc_hash::FxHashMap;
use saltus_flatten::ClassTree;
use saltus_flatten::tree::NodeId;
use saltus_syntax::ast::{Argument, ArgumentKind, EquationKind, Expr, ExprKind, Restriction};
use serde::Serialize;
use shapes::{Canvas, Subject, escaped};
use std::fmt::Write;
use values::{Item, Known, Parameters, argument, known, literal};

/// Icons inside icons: a component, its connectors.
const NESTING_MAX: usize = 2;
/// Bytes of an image that is put into a picture.
const IMAGE_BYTES_MAX: usize = 1 << 20;

/// A drawn class.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DiagramView {
    pub class: String,
    pub svg: String,
    pub components: Vec<DiagramComponent>,
}

/// A component of a diagram. Its parts of the picture are in a group with `data-component`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DiagramComponent {
    pub name: String,
    /// The class; as written if there is none of the name.
    pub class: String,
    pub description: String,
    pub is_connector: bool,
    /// The class draws something.
    pub has_icon: bool,
}

impl Session {
    /// The diagram of a class: its components and their connections.
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("P.mo", "package P
    ///   model Box annotation(Icon(graphics = {Rectangle(extent = {{-80,80},{80,-80}}), Text(extent = {{-80,40},{80,-40}}, textString = \"%name\")})); end Box;
    ///   model Two
    ///     Box a annotation(Placement(transformation(extent = {{-60,-10},{-40,10}})));
    ///     Box b annotation(Placement(transformation(extent = {{40,-10},{60,10}})));
    ///   end Two;
    /// end P;");
    /// let diagram = session.diagram("P.Two").expect("there is such a class");
    /// assert_eq!(diagram.components.len(), 2);
    /// assert!(diagram.svg.contains("data-component=\"a\"") && diagram.svg.contains(">b</text>"));
    /// ```
    pub fn diagram(&self, class: &str) -> Option<DiagramView> {
        self.browse(|tree| {
            let node = find(tree, class)?;
            let mut painter = Painter::new(self, tree);
            painter.layer(node, "Diagram", Affine::IDENTITY, &Icon::of_class(class));
            painter.components(node);
            painter.connections(node);
            let frame = painter.frame(node, "Diagram");
            Some(painter.finish(class, frame))
        })
    }

    /// The icon of a class, with its connectors.
    pub fn icon(&self, class: &str) -> Option<DiagramView> {
        self.browse(|tree| {
            let node = find(tree, class)?;
            let mut painter = Painter::new(self, tree);
            let icon = Icon::of_class(class);
            painter.icon(node, Affine::IDENTITY, icon, 0);
            let frame = painter.frame(node, "Icon");
            Some(painter.finish(class, frame))
        })
    }
}

/// What the texts of an icon refer to: the component that has it.
struct Icon<'a> {
    name: String,
    class: String,
    /// Values that modifiers give, over those of the declarations.
    values: FxHashMap<&'a str, &'a Expr>,
    folder: Option<std::path::PathBuf>,
    session: Option<Session>,
}

impl Icon<'_> {
    fn of_class(class: &str) -> Icon<'static> {
        let last = class.rsplit('.').next().unwrap_or(class);
        Icon {
            name: last.to_owned(),
            class: last.to_owned(),
            values: FxHashMap::default(),
            folder: None,
            session: None,
        }
    }
}

impl Parameters for Icon<'_> {
    fn parameter(&self, name: &str) -> Option<&Expr> {
        self.values.get(name).copied()
    }
}

impl Subject for Icon<'_> {
    fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let (name, after) = match rest.strip_prefix('{') {
                Some(inner) => inner.split_once('}').unwrap_or((inner, "")),
                None => {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    rest.split_at(end.unwrap_or(rest.len()))
                }
            };
            rest = after;
            match name {
                "" => out.push('%'),
                "name" => out.push_str(&self.name),
                "class" => out.push_str(&self.class),
                name => out.push_str(&self.value_text(name)),
            }
        }
        out.push_str(rest);
        out
    }

    fn image(&self, file: &str) -> Option<String> {
        let inside = file
            .strip_prefix("modelica://")
            .or_else(|| file.strip_prefix("Modelica://"))?;
        let (_, path) = inside.split_once('/')?;
        let kind = match path.rsplit('.').next()? {
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "svg" => "image/svg+xml",
            "gif" => "image/gif",
            "bmp" => "image/bmp",
            _ => return None,
        };
        // No way out of the library.
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let full = self.folder.as_ref()?.join(path);
        let bytes = self
            .session
            .as_ref()?
            .read_file(&full.display().to_string())
            .ok()?;
        (bytes.len() <= IMAGE_BYTES_MAX).then(|| format!("data:{kind};base64,{}", base64(&bytes)))
    }
}

impl Icon<'_> {
    /// A value as icons show it: a number, a name without its path, an expression as written.
    fn value_text(&self, name: &str) -> String {
        let Some(expr) = self.parameter(name) else {
            return String::new();
        };
        match known(expr, self) {
            Some(Known::Number(x)) => shapes::short(x).replace("inf", "∞"),
            Some(Known::Text(text)) => text,
            Some(Known::Name(name)) => name,
            Some(Known::Boolean(b)) => b.to_string(),
            _ => match &expr.kind {
                ExprKind::Ref(reference) => {
                    let parts: Vec<&str> = reference
                        .parts
                        .iter()
                        .map(|p| p.name.name.as_str())
                        .collect();
                    parts.join(".")
                }
                _ => saltus_syntax::print::print_expr(expr),
            },
        }
    }
}

struct Painter<'t, 'a> {
    session: &'t Session,
    look: Look<'t, 'a>,
    canvas: Canvas,
    drawn: Vec<DiagramComponent>,
}

impl<'t, 'a> Painter<'t, 'a> {
    fn new(session: &'t Session, tree: &'t mut ClassTree<'a>) -> Self {
        Painter {
            session,
            look: Look::new(tree),
            canvas: Canvas::default(),
            drawn: Vec::new(),
        }
    }

    fn finish(self, class: &str, frame: Frame) -> DiagramView {
        DiagramView {
            class: class.to_owned(),
            svg: self.canvas.finish(frame.extent),
            components: self.drawn,
        }
    }

    /// The coordinate system of a layer: that of the class, or of the first base that has one.
    fn frame(&mut self, node: NodeId, layer: &str) -> Frame {
        self.find_frame(node, layer, 0).unwrap_or(Frame {
            extent: Extent::DEFAULT,
            keeps_ratio: true,
        })
    }

    fn find_frame(&mut self, node: NodeId, layer: &str, depth: usize) -> Option<Frame> {
        let own = self.look.tree.def(node).and_then(own_annotation);
        let system = own
            .and_then(|args| argument(args, layer))
            .and_then(|(inner, _)| argument(inner, "coordinateSystem"));
        if let Some((system, _)) = system {
            let extent = literal(system, "extent").and_then(|v| v.extent());
            let keeps = literal(system, "preserveAspectRatio");
            return Some(Frame {
                extent: extent.unwrap_or(Extent::DEFAULT),
                keeps_ratio: keeps != Some(Known::Boolean(false)),
            });
        }
        if depth > NESTING_MAX * 8 {
            return None;
        }
        let bases = look::bases(&mut self.look, node);
        (bases.iter()).find_map(|base| self.find_frame(base.class, layer, depth + 1))
    }

    /// The graphics of a class and its bases; true if there are any.
    fn layer(&mut self, node: NodeId, layer: &str, map: Affine, subject: &Icon<'_>) -> bool {
        self.layer_at(node, layer, map, subject, 0)
    }

    fn layer_at(
        &mut self,
        node: NodeId,
        layer: &str,
        map: Affine,
        subject: &Icon<'_>,
        depth: usize,
    ) -> bool {
        if depth > NESTING_MAX * 8 {
            return false;
        }
        let mut any = false;
        for base in look::bases(&mut self.look, node).iter() {
            let mapping = argument(base.annotation, &format!("{layer}Map"));
            let visible = mapping.and_then(|(args, _)| literal(args, "primitivesVisible"));
            if visible != Some(Known::Boolean(false)) {
                any |= self.layer_at(base.class, layer, map, subject, depth + 1);
            }
        }
        let graphics = (self.look.tree.def(node).and_then(own_annotation))
            .and_then(|args| argument(args, layer))
            .and_then(|(inner, _)| argument(inner, "graphics"))
            .and_then(|(_, value)| value);
        if let Some(ExprKind::Array(items)) = graphics.map(|g| &g.kind) {
            for item in items.iter().filter_map(Item::of) {
                any |= self.canvas.item(&item, map, subject);
            }
        }
        any
    }

    /// The icon of a class with its connectors; true if something was drawn.
    fn icon(&mut self, node: NodeId, map: Affine, subject: Icon<'a>, nesting: usize) -> bool {
        let mut any = self.layer(node, "Icon", map, &subject);
        if nesting >= NESTING_MAX {
            return any;
        }
        for part in look::components(&mut self.look, node) {
            if !part.is_public {
                continue;
            }
            let Some(class) = look::resolve(&mut self.look, part.owner, &part.decl.ty) else {
                continue;
            };
            let is_connector = self.is_connector(class, 0);
            let absent = (part.decl.condition.as_ref()).and_then(|c| known(c, &subject))
                == Some(Known::Boolean(false));
            if !is_connector || absent {
                continue;
            }
            let Some(placement) = placement(part.decl, "iconTransformation") else {
                continue;
            };
            if !placement.visible {
                continue;
            }
            let frame = self.frame(class, "Icon");
            let inner = map.after(placement.map(frame));
            let name = part.decl.name.name.as_str();
            let connector = self.subject(&part, class);
            let _ = write!(
                self.canvas.body,
                r#"<g data-connector="{}">"#,
                escaped(name)
            );
            any |= self.icon(class, inner, connector, NESTING_MAX);
            self.canvas.body.push_str("</g>");
        }
        any
    }

    fn is_connector(&mut self, node: NodeId, depth: usize) -> bool {
        let Some(def) = self.look.tree.def(node) else {
            return false;
        };
        match def.restriction {
            Restriction::Connector | Restriction::ExpandableConnector => true,
            Restriction::Type if depth < NESTING_MAX * 8 => (look::bases(&mut self.look, node)
                .iter())
            .any(|base| self.is_connector(base.class, depth + 1)),
            _ => false,
        }
    }

    /// The components of a class in its diagram.
    fn components(&mut self, node: NodeId) {
        let own = self.parameters(node, &[]);
        for part in look::components(&mut self.look, node) {
            let Some(placement) = placement(part.decl, "transformation") else {
                continue;
            };
            let around = Icon {
                values: own.clone(),
                ..Icon::of_class("")
            };
            let absent = (part.decl.condition.as_ref()).and_then(|c| known(c, &around))
                == Some(Known::Boolean(false));
            if !placement.visible || absent {
                continue;
            }
            self.component(&part, &placement);
        }
    }

    fn component(&mut self, part: &Declared<'a>, placement: &Placement) {
        let decl = part.decl;
        let name = decl.name.name.to_string();
        let class = look::resolve(&mut self.look, part.owner, &decl.ty);
        let written: Vec<&str> = decl.ty.parts.iter().map(|p| p.name.as_str()).collect();
        let qualified = match class {
            Some(class) => self.look.tree.qualified_name(class).to_string(),
            None => written.join("."),
        };
        let _ = write!(
            self.canvas.body,
            r#"<g data-component="{}" data-class="{}">"#,
            escaped(&name),
            escaped(&qualified)
        );
        let has_icon = match class {
            Some(class) => {
                let is_connector = self.is_connector(class, 0);
                let subject = self.subject(part, class);
                // In a diagram connectors have a look of their own.
                let map = placement.map(self.frame(class, "Diagram"));
                if is_connector && self.layer(class, "Diagram", map, &subject) {
                    true
                } else {
                    let map = placement.map(self.frame(class, "Icon"));
                    let nesting = usize::from(is_connector) * NESTING_MAX;
                    self.icon(class, map, subject, nesting)
                }
            }
            None => false,
        };
        if !has_icon {
            let map =
                Affine::translation(placement.origin).after(Affine::rotation(placement.rotation));
            self.canvas.placeholder(placement.extent, map, &name);
        }
        self.canvas.body.push_str("</g>");
        let is_connector = class.is_some_and(|class| self.is_connector(class, 0));
        self.drawn.push(DiagramComponent {
            is_connector,
            name,
            class: qualified,
            description: decl.description.as_deref().unwrap_or_default().to_owned(),
            has_icon,
        });
    }

    /// The component as its icon's texts see it.
    fn subject(&mut self, part: &Declared<'a>, class: NodeId) -> Icon<'a> {
        let decl = part.decl;
        let dims: String = match decl.dims.is_empty() {
            true => String::new(),
            false => "[]".to_owned(),
        };
        let own = decl.modification.as_ref().map_or(&[][..], |m| &m.args[..]);
        let mut modifiers: Vec<&'a [Argument]> = Vec::new();
        // What extends clauses say about this component comes first.
        for outer in &part.modifiers {
            if let Some((inner, _)) = argument(outer, decl.name.name.as_str()) {
                modifiers.push(inner);
            }
        }
        modifiers.push(own);
        Icon {
            name: format!("{}{dims}", decl.name.name),
            class: self.look.tree.name(class).to_string(),
            values: self.parameters(class, &modifiers),
            folder: self.folder(class),
            session: Some(self.session.clone()),
        }
    }

    /// Parameters of a class: their declared values, then those of modifiers, outermost first.
    fn parameters(
        &mut self,
        class: NodeId,
        modifiers: &[&'a [Argument]],
    ) -> FxHashMap<&'a str, &'a Expr> {
        let mut values: FxHashMap<&'a str, &'a Expr> = FxHashMap::default();
        for part in look::components(&mut self.look, class) {
            let name = part.decl.name.name.as_str();
            let modification = part.decl.modification.as_ref();
            let inherited = (part.modifiers.iter()).find_map(|outer| argument(outer, name)?.1);
            if let Some(value) = inherited.or(modification.and_then(|m| m.value.as_ref())) {
                values.insert(name, value);
            } else if let Some((_, Some(start))) =
                modification.and_then(|m| argument(&m.args, "start"))
            {
                // Shown, as other tools do, while nobody gives a value.
                values.entry(name).or_insert(start);
            }
        }
        for arguments in modifiers.iter().rev() {
            for given in *arguments {
                if let ArgumentKind::Modify {
                    path, modification, ..
                } = &given.kind
                    && let [part] = &path.parts[..]
                    && let Some(value) = modification.as_ref().and_then(|m| m.value.as_ref())
                {
                    values.insert(part.name.as_str(), value);
                }
            }
        }
        values
    }

    /// The folder of the library of a class.
    fn folder(&mut self, class: NodeId) -> Option<std::path::PathBuf> {
        let mut top = class;
        while let Some(parent) = self.look.tree.parent(top)
            && parent != saltus_flatten::tree::ROOT
        {
            top = parent;
        }
        let def = self.look.tree.def(top)?;
        let file = &self.look.tree.sources.file(def.span.file).name;
        std::path::Path::new(file).parent().map(Into::into)
    }

    fn connections(&mut self, node: NodeId) {
        let mut todo = look::equations(&mut self.look, node, 0);
        todo.reverse();
        while let Some(equation) = todo.pop() {
            match &equation.kind {
                EquationKind::Connect { a, b } => {
                    let line = (equation.annotation.as_ref())
                        .and_then(|annotation| argument(&annotation.args, "Line"));
                    let Some((arguments, _)) = line else { continue };
                    let text = |r: &saltus_syntax::ast::ComponentRef| {
                        let parts: Vec<&str> =
                            r.parts.iter().map(|p| p.name.name.as_str()).collect();
                        parts.join(".")
                    };
                    let _ = write!(
                        self.canvas.body,
                        r#"<g data-connection="{}, {}">"#,
                        escaped(&text(a)),
                        escaped(&text(b))
                    );
                    self.connection(arguments);
                    self.canvas.body.push_str("</g>");
                }
                EquationKind::If {
                    branches,
                    otherwise,
                } => {
                    todo.extend(branches.iter().flat_map(|(_, inner)| inner));
                    todo.extend(otherwise);
                }
                EquationKind::For { body, .. } => todo.extend(body),
                _ => {}
            }
        }
    }

    /// A line is written as arguments of an annotation, not as a call.
    fn connection(&mut self, arguments: &[Argument]) {
        let named = arguments
            .iter()
            .filter_map(|argument| match &argument.kind {
                ArgumentKind::Modify {
                    path, modification, ..
                } => Some((*path.parts.first()?, modification.as_ref()?.value.clone()?)),
                _ => None,
            });
        let args = saltus_syntax::ast::CallArgs {
            positional: Vec::new(),
            named: named.collect(),
        };
        let item = Item::new("Line", &args);
        self.canvas
            .item(&item, Affine::IDENTITY, &Icon::of_class(""));
    }
}

/// A coordinate system.
#[derive(Clone, Copy)]
struct Frame {
    extent: Extent,
    keeps_ratio: bool,
}

/// Where a component lies.
struct Placement {
    extent: Extent,
    origin: Point,
    rotation: f64,
    visible: bool,
}

impl Placement {
    fn map(&self, inner: Frame) -> Affine {
        Affine::placement(
            inner.extent,
            self.extent,
            self.origin,
            self.rotation,
            inner.keeps_ratio,
        )
    }
}

/// Of a declaration, in the icon (`iconTransformation`, else as in the diagram) or in the diagram.
fn placement(decl: &saltus_syntax::ast::ComponentDecl, which: &str) -> Option<Placement> {
    let annotation = decl.annotation.as_ref()?;
    let (inner, _) = argument(&annotation.args, "Placement")?;
    let (transformation, _) =
        argument(inner, which).or_else(|| argument(inner, "transformation"))?;
    // Old texts say it by x, y, scale: those have no extent.
    let extent = literal(transformation, "extent")?.extent()?;
    let visible_in_icon = match which {
        "iconTransformation" => literal(inner, "iconVisible"),
        _ => None,
    };
    let visible = visible_in_icon.or_else(|| literal(inner, "visible"));
    Some(Placement {
        extent,
        origin: (literal(transformation, "origin").and_then(|v| v.point())).unwrap_or_default(),
        rotation: (literal(transformation, "rotation").and_then(|v| v.number())).unwrap_or(0.0),
        visible: visible != Some(Known::Boolean(false)),
    })
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let all = part(0) << 16 | part(1) << 8 | part(2);
        for k in 0..4 {
            match k <= chunk.len() {
                true => out.push(LETTERS[(all >> (18 - 6 * k) & 63) as usize] as char),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_become_base64() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
