//! Run, plot, structure, test: commands above the models that can be run.

use super::{Answer, Asked};
use crate::context::all_classes;
use crate::server::Server;
use lsp_types::{CodeLens, CodeLensParams, Command};
use saltus::language::syntax::{Annotation, ArgumentKind, ClassDef, Restriction};

const COMMANDS: [(&str, &str); 4] = [
    ("Run", "saltus.simulate"),
    ("Plot", "saltus.plot"),
    ("Structure", "saltus.structure"),
    ("Test", "saltus.test"),
];

pub(super) fn lenses(
    server: &mut Server<'_>,
    params: CodeLensParams,
) -> Answer<Option<Vec<CodeLens>>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let mut out = Vec::new();
    for (name, class) in all_classes(&asked.parsed.definition) {
        if !can_run(class) {
            continue;
        }
        let range = asked.text.range_of(class.name.span);
        for (title, command) in COMMANDS {
            let arguments = Some(vec![name.clone().into(), asked.path.clone().into()]);
            let command = Command {
                title: title.to_owned(),
                command: command.to_owned(),
                arguments,
            };
            out.push(CodeLens {
                range,
                command: Some(command),
                data: None,
            });
        }
    }
    Ok(Some(out))
}

/// A model with an experiment, or one at the top of a file that is no library.
fn can_run(class: &ClassDef) -> bool {
    let is_model = matches!(
        class.restriction,
        Restriction::Model | Restriction::Block | Restriction::Class
    );
    is_model && !class.partial && has(class.annotation.as_ref(), "experiment")
}

fn has(annotation: Option<&Annotation>, name: &str) -> bool {
    annotation.is_some_and(|annotation| {
        annotation.args.iter().any(|arg| {
            matches!(&arg.kind, ArgumentKind::Modify { path, .. } if path.parts.len() == 1 && path.parts[0].name.as_str() == name)
        })
    })
}
