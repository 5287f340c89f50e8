//! The inputs of the function whose brackets are open at the cursor.

use super::complete::{Cursor, Place, modified};
use super::{Answer, Asked, place};
use crate::context::{classes_at, within};
use crate::server::Server;
use lsp_types::{
    Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureHelpParams,
    SignatureInformation,
};

pub(super) fn help(
    server: &mut Server<'_>,
    params: SignatureHelpParams,
) -> Answer<Option<SignatureHelp>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let offset = asked.offset(position);
    let Some(cursor) = Cursor::new(&asked.text.text, offset) else {
        return Ok(None);
    };
    let (Place::Argument { heads, base } | Place::Value { heads, base }) = &cursor.place else {
        return Ok(None);
    };
    let Some(head) = heads.last() else {
        return Ok(None);
    };
    let help = server.session.queries(|q| {
        let names = within(&asked.parsed.definition);
        let scope = q.scope_of(&names, &classes_at(&asked.parsed.definition, offset));
        let inst = modified(q, scope, heads, base.as_deref())?;
        let inputs: Vec<_> = q.members(inst).into_iter().filter(|m| m.is_input).collect();
        let outputs: Vec<String> = (q.members(inst).into_iter())
            .filter(|m| m.is_output)
            .map(|m| format!("{} {}", m.detail, m.name))
            .collect();
        if inputs.is_empty() && outputs.is_empty() {
            return None;
        }
        let labels: Vec<String> = inputs
            .iter()
            .map(|m| format!("{} {}", m.detail, m.name))
            .collect();
        let label = format!(
            "{}({}) → {}",
            q.class_of(inst),
            labels.join(", "),
            outputs.join(", ")
        );
        let active = match &head.argument {
            Some(name) => inputs.iter().position(|m| m.name.as_str() == name),
            None => Some(head.n_before),
        };
        let parameter = |(label, m): (String, &saltus::language::Member)| ParameterInformation {
            label: ParameterLabel::Simple(label),
            documentation: m
                .description
                .as_deref()
                .map(|d| Documentation::String(d.to_owned())),
        };
        let description = q
            .definition(inst)
            .and_then(|def| def.description.as_deref().map(str::to_owned));
        Some(SignatureHelp {
            signatures: vec![SignatureInformation {
                label,
                documentation: description.map(Documentation::String),
                parameters: Some(labels.into_iter().zip(&inputs).map(parameter).collect()),
                active_parameter: active.and_then(|active| u32::try_from(active).ok()),
            }],
            active_signature: Some(0),
            active_parameter: active.and_then(|active| u32::try_from(active).ok()),
        })
    });
    Ok(help)
}
