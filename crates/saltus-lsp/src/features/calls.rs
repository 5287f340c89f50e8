//! Which function calls which.

use super::navigate::usages;
use super::{Answer, Asked, place, target_at, targets};
use crate::context::{all_classes, class_name_at};
use crate::server::Server;
use crate::text::{Text, path_of};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
    SymbolKind,
};
use saltus::language::{Described, MemberKind, Queries};
use std::collections::BTreeMap;

pub(super) fn prepare(
    server: &mut Server<'_>,
    params: CallHierarchyPrepareParams,
) -> Answer<Option<Vec<CallHierarchyItem>>> {
    let (uri, position) = place(&params.text_document_position_params);
    let asked = Asked::new(server, uri)?;
    let server = &*server;
    let item = server.session.queries(|q| {
        let at = target_at(q, &asked, position)?;
        let about = q.describe(&at.target);
        item(server, q, &about)
    });
    Ok(item.map(|item| vec![item]))
}

/// A function, or a class that calls one.
fn item(server: &Server<'_>, q: &mut Queries<'_>, about: &Described) -> Option<CallHierarchyItem> {
    let (place, whole) = (about.place?, about.whole?);
    if about.kind != MemberKind::Function {
        return None;
    }
    let source = q.tree().sources.shared(place.file);
    let text = Text::new(source.text.clone());
    let name = about.class?.to_string();
    Some(CallHierarchyItem {
        name: name.rsplit('.').next().unwrap_or(&name).to_owned(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        detail: Some(name),
        uri: server.uri(&source.name)?,
        range: text.range_of(whole),
        selection_range: text.range_of(place),
        data: None,
    })
}

pub(super) fn outgoing(
    server: &mut Server<'_>,
    params: CallHierarchyOutgoingCallsParams,
) -> Answer<Option<Vec<CallHierarchyOutgoingCall>>> {
    let asked = Asked::new(server, &params.item.uri)?;
    let server = &*server;
    let range = (
        asked.offset(params.item.range.start),
        asked.offset(params.item.range.end),
    );
    let own = asked.offset(params.item.selection_range.start);
    let calls = server.session.queries(|q| {
        let mut calls: BTreeMap<String, CallHierarchyOutgoingCall> = BTreeMap::new();
        for at in targets(q, &asked.parsed, range) {
            let about = q.describe(&at.target);
            let is_call = asked.text.text[at.span.end as usize..]
                .trim_start()
                .starts_with('(');
            if at.span.start == own || !is_call {
                continue;
            }
            let Some(to) = item(server, q, &about) else {
                continue;
            };
            let name = to.detail.clone().unwrap_or_default();
            let call = calls.entry(name).or_insert(CallHierarchyOutgoingCall {
                to,
                from_ranges: Vec::new(),
            });
            call.from_ranges.push(asked.text.range_of(at.span));
        }
        calls
    });
    Ok(Some(calls.into_values().collect()))
}

pub(super) fn incoming(
    server: &mut Server<'_>,
    params: CallHierarchyIncomingCallsParams,
) -> Answer<Option<Vec<CallHierarchyIncomingCall>>> {
    let asked = Asked::new(server, &params.item.uri)?;
    let path = path_of(&params.item.uri);
    let declared = asked.offset(params.item.selection_range.start);
    let Some(all) = usages(server, &asked, params.item.selection_range.start) else {
        return Ok(None);
    };
    let mut calls: BTreeMap<String, CallHierarchyIncomingCall> = BTreeMap::new();
    for file in &all.files {
        let text = Text::new(file.parsed.source.text.clone());
        for span in &file.spans {
            let is_call = text.text[span.end as usize..].trim_start().starts_with('(');
            if (file.path == path && span.start == declared) || !is_call {
                continue;
            }
            let Some(name) = class_name_at(&file.parsed, span.start) else {
                continue;
            };
            let Some((_, class)) = all_classes(&file.parsed.definition)
                .into_iter()
                .find(|(n, _)| *n == name)
            else {
                continue;
            };
            let Some(uri) = server.uri(&file.path) else {
                continue;
            };
            let from = CallHierarchyItem {
                name: class.name.name.to_string(),
                kind: SymbolKind::FUNCTION,
                tags: None,
                detail: Some(name.clone()),
                uri,
                range: text.range_of(class.span),
                selection_range: text.range_of(class.name.span),
                data: None,
            };
            let call = calls.entry(name).or_insert(CallHierarchyIncomingCall {
                from,
                from_ranges: Vec::new(),
            });
            call.from_ranges.push(text.range_of(*span));
        }
    }
    Ok(Some(calls.into_values().collect()))
}
