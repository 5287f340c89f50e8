//! Constraining types (specification 7.3.2): what is replaceable, and each of its redeclarations, has what the constraint promises.
//!
//! Comes in: an instance whose elements are known. Goes out: the first redeclaration, default or narrower constraint that lacks
//! something. The constraint in force is that of the nearest redeclaration further in that states one, else that of the
//! declaration, else the declared type.

use crate::core::*;
use crate::elaborate::descend_all;
use crate::lookup::stated_constraint;
use saltus_syntax::ast::{self, ClassBody, Ident};
use saltus_syntax::{Diagnostic, Name};
use std::rc::Rc;

impl<'a> Flattener<'a> {
    /// Checks a replaceable component and all its redeclarations.
    pub(crate) fn check_constraint(
        &mut self,
        owner: InstId,
        name: Name,
        original: &'a ast::ComponentDecl,
    ) -> Res<()> {
        let lex = self.insts[owner].elements[&name].lex;
        let declared = self.find_class(lex, &original.ty)?;
        let constraint = match &original.constraint {
            Some(constraint) => {
                let class = self.find_class(lex, &constraint.base)?;
                self.expect_subtype(&declared, &class, &original.name)?;
                class
            }
            None => declared,
        };
        self.check_redeclarations(owner, name, constraint)
    }

    /// Checks the replaceable classes of an instance; functions are checked where they are called. The same pair of texts is
    /// checked once.
    pub(crate) fn check_class_constraints(&mut self, inst: InstId) {
        let names: Vec<Name> = (self.insts[inst].elements.iter())
            .filter(|(_, e)| e.replaceable && matches!(e.kind, ElementKind::Class(_)))
            .map(|(name, _)| *name)
            .collect();
        for name in names {
            if let Err(e) = self.check_class_constraint(inst, name)
                && e.code == "type-mismatch"
            {
                self.report(e);
            }
        }
    }

    fn check_class_constraint(&mut self, inst: InstId, name: Name) -> Res<()> {
        let element = self.insts[inst].elements[&name].clone();
        let ElementKind::Class(source) = &element.kind else {
            return Ok(());
        };
        let Some(def) = self.source_def(source) else {
            return Ok(());
        };
        if matches!(
            def.restriction,
            ast::Restriction::Function | ast::Restriction::OperatorFunction
        ) {
            return Ok(());
        }
        let own = self.stands_for(source.clone(), element.lex, def)?;
        let constraint = match element.constraint {
            Some(constraint) => {
                let class = self.find_class(element.lex, &constraint.base)?;
                if self.is_new_pair(&own, &class) {
                    self.expect_subtype(&own, &class, &def.name)?;
                }
                class
            }
            None => own,
        };
        self.check_redeclarations(inst, name, constraint)
    }

    /// Each redeclaration, innermost first, against the constraint in force.
    fn check_redeclarations(
        &mut self,
        owner: InstId,
        name: Name,
        mut constraint: ClassRef<'a>,
    ) -> Res<()> {
        let mut layers = descend_all(&self.insts[owner].layers, name);
        layers.extend(descend_all(&self.insts[owner].elements[&name].chain, name));
        for layer in layers.iter().rev() {
            let LayerKind::Redeclare(arg) = layer.kind else {
                continue;
            };
            let (class, ident): (ClassRef<'a>, &Ident) = match &arg.kind {
                ast::ArgumentKind::Component(decl) => {
                    (self.find_class(layer.lex, &decl.ty)?, &decl.name)
                }
                ast::ArgumentKind::Class { def, .. } => {
                    let class = self.stands_for(ClassSource::Ast(def), layer.lex, def)?;
                    (class, &def.name)
                }
                _ => continue,
            };
            if self.is_new_pair(&class, &constraint) {
                self.expect_subtype(&class, &constraint, ident)?;
            }
            if let Some(stated) = stated_constraint(arg) {
                let narrower = self.find_class(layer.lex, &stated.base)?;
                if self.is_new_pair(&narrower, &constraint) {
                    self.expect_subtype(&narrower, &constraint, ident)?;
                }
                constraint = narrower;
            }
        }
        Ok(())
    }

    /// Subtype with the same number of dimensions in the type itself.
    fn expect_subtype(
        &mut self,
        class: &ClassRef<'a>,
        constraint: &ClassRef<'a>,
        ident: &Ident,
    ) -> Res<()> {
        if let Some(def) = self.source_def(&constraint.source)
            && matches!(def.body, ClassBody::Enumeration(None))
        {
            // `enumeration(:)` stands for every enumeration.
            return Ok(());
        }
        self.check_subtype(class, constraint, ident)?;
        let (new, old) = (self.class_inst(class)?, self.class_inst(constraint)?);
        self.elaborate(new)?;
        self.elaborate(old)?;
        let n = [new, old].map(|inst| self.insts[inst].type_dims.len());
        if n[0] == n[1] {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "type-mismatch",
                ident.span,
                format!(
                    "`{}` has a type with {} dimensions where the constraining type has {}",
                    ident.name, n[0], n[1]
                ),
            )
            .help("give both types the same number of dimensions"),
        ))
    }

    /// The class itself, or for a short class the one that it stands for.
    fn stands_for(
        &mut self,
        source: ClassSource<'a>,
        lex: LexId,
        def: &'a ast::ClassDef,
    ) -> Res<ClassRef<'a>> {
        if let ClassBody::Short { base, .. } = &def.body {
            return self.find_class(lex, base);
        }
        Ok(ClassRef {
            source,
            enclosing: lex,
            layers: Rc::from([]),
            found_in: None,
            name: def.name.name,
            span: Some(def.name.span),
        })
    }

    fn is_new_pair(&mut self, class: &ClassRef<'a>, constraint: &ClassRef<'a>) -> bool {
        let pair = [class, constraint].map(|c| {
            self.source_def(&c.source)
                .map_or(std::ptr::null(), std::ptr::from_ref)
        });
        // Built-in types have no text.
        pair.iter().any(|class| class.is_null())
            || pair[0] != pair[1] && self.checked_constraints.insert(pair)
    }
}
