//! The questions of the protocol, one file each; here what the server can do, and who answers what.

mod actions;
mod calls;
mod complete;
mod folding;
mod formatting;
mod hints;
mod hover;
mod lenses;
mod links;
mod navigate;
mod rename;
mod selection;
mod signature;
mod symbols;
mod tokens;

use crate::context::within;
use crate::server::{Server, is, refusal};
use crate::text::{Text, path_of};
use lsp_server::ResponseError;
use lsp_types::request::*;
use lsp_types::{
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DocumentLinkOptions, FoldingRangeProviderCapability,
    HoverProviderCapability, Location, OneOf, Position, RenameOptions,
    SelectionRangeProviderCapability, SemanticTokensFullOptions, SemanticTokensOptions,
    ServerCapabilities, SignatureHelpOptions, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, TypeDefinitionProviderCapability, Uri, WorkDoneProgressOptions,
};
use saltus::language::{Name, ParsedFile, Queries, Span, Target, occurrences};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

type Answer<T> = Result<T, ResponseError>;

/// What the server can do.
pub(crate) fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(lsp_types::PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "(", "\"", "="].map(String::from).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(["(", ","].map(String::from).to_vec()),
            retrigger_characters: None,
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        definition_provider: Some(OneOf::Left(true)),
        declaration_provider: Some(lsp_types::DeclarationCapability::Simple(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::SOURCE_ORGANIZE_IMPORTS,
            ]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        inlay_hint_provider: Some(OneOf::Left(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// The answer to a request.
pub(crate) fn answer(server: &mut Server<'_>, method: &str, params: Value) -> Answer<Value> {
    match method {
        m if is::<DocumentSymbolRequest>(m) => with(params, |p| symbols::of_document(server, p)),
        m if is::<WorkspaceSymbolRequest>(m) => with(params, |p| symbols::of_workspace(server, p)),
        m if is::<FoldingRangeRequest>(m) => with(params, |p| folding::ranges(server, p)),
        m if is::<SelectionRangeRequest>(m) => with(params, |p| selection::ranges(server, p)),
        m if is::<SemanticTokensFullRequest>(m) => with(params, |p| tokens::full(server, p)),
        m if is::<Formatting>(m) => with(params, |p| formatting::document(server, p)),
        m if is::<RangeFormatting>(m) => with(params, |p| formatting::range(server, p)),
        m if is::<GotoDefinition>(m) || is::<GotoDeclaration>(m) => {
            with(params, |p| navigate::definition(server, p))
        }
        m if is::<GotoTypeDefinition>(m) => with(params, |p| navigate::type_definition(server, p)),
        m if is::<References>(m) => with(params, |p| navigate::references(server, p)),
        m if is::<DocumentHighlightRequest>(m) => with(params, |p| navigate::highlights(server, p)),
        m if is::<PrepareRenameRequest>(m) => with(params, |p| rename::prepare(server, p)),
        m if is::<Rename>(m) => with(params, |p| rename::rename(server, p)),
        m if is::<HoverRequest>(m) => with(params, |p| hover::hover(server, p)),
        m if is::<Completion>(m) => with(params, |p| complete::complete(server, p)),
        m if is::<SignatureHelpRequest>(m) => with(params, |p| signature::help(server, p)),
        m if is::<InlayHintRequest>(m) => with(params, |p| hints::hints(server, p)),
        m if is::<CodeActionRequest>(m) => with(params, |p| actions::actions(server, p)),
        m if is::<CodeLensRequest>(m) => with(params, |p| lenses::lenses(server, p)),
        m if is::<DocumentLinkRequest>(m) => with(params, |p| links::links(server, p)),
        m if is::<CallHierarchyPrepare>(m) => with(params, |p| calls::prepare(server, p)),
        m if is::<CallHierarchyIncomingCalls>(m) => with(params, |p| calls::incoming(server, p)),
        m if is::<CallHierarchyOutgoingCalls>(m) => with(params, |p| calls::outgoing(server, p)),
        _ => Err(ResponseError {
            code: lsp_server::ErrorCode::MethodNotFound as i32,
            message: format!("`{method}` is not known here"),
            data: None,
        }),
    }
}

fn with<P: DeserializeOwned, T: Serialize>(
    params: Value,
    work: impl FnOnce(P) -> Answer<T>,
) -> Answer<Value> {
    let invalid = |e: serde_json::Error| ResponseError {
        code: lsp_server::ErrorCode::InvalidParams as i32,
        message: e.to_string(),
        data: None,
    };
    let params = serde_json::from_value(params).map_err(invalid)?;
    serde_json::to_value(work(params)?).map_err(invalid)
}

/// A document that is asked about: its path, text and tree.
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) text: Text,
    pub(crate) parsed: Arc<ParsedFile>,
}

impl Asked {
    pub(crate) fn new(server: &Server<'_>, uri: &Uri) -> Answer<Asked> {
        let path = path_of(uri);
        let parsed = server
            .session
            .parsed(&path)
            .map_err(|d| refusal(d.message))?;
        let text = match server.documents.get(&path) {
            Some(document) => document.text.clone(),
            None => Text::new(parsed.source.text.clone()),
        };
        Ok(Asked { path, text, parsed })
    }

    pub(crate) fn offset(&self, position: Position) -> u32 {
        self.text.offset(position) as u32
    }
}

/// An identifier of a text with what it stands for.
pub(crate) struct At<'a> {
    pub(crate) span: Span,
    pub(crate) target: Target<'a>,
}

/// What the identifiers that touch a range stand for, in order. Several may touch one place: the end of one is the begin of another.
pub(crate) fn targets<'a>(
    q: &mut Queries<'a>,
    file: &ParsedFile,
    range: (u32, u32),
) -> Vec<At<'a>> {
    let names = within(&file.definition);
    let mut found = Vec::new();
    occurrences(&file.definition, range, &mut |at| {
        if let Some(target) = q.resolve(&names, at) {
            found.push(At {
                span: at.ident.span,
                target,
            });
        }
    });
    found.sort_by_key(|at| at.span.start);
    found
}

/// What stands at a position. The name behind `end` stands for the class that ends.
pub(crate) fn target_at<'a>(
    q: &mut Queries<'a>,
    asked: &Asked,
    position: Position,
) -> Option<At<'a>> {
    let offset = asked.offset(position);
    let mut all = targets(q, &asked.parsed, (offset, offset));
    if let Some(last) = all.pop() {
        return Some(last);
    }
    let (names, span) = ending_class(&asked.parsed, offset)?;
    let (last, around) = names.split_last()?;
    let parts: Vec<_> = (around.iter().chain([last]))
        .map(|&name| saltus::language::syntax::Ident { name, span })
        .collect();
    Some(At {
        span,
        target: q.global(&parts)?,
    })
}

/// The class whose `end Name` is at the offset, and where its name stands.
fn ending_class(parsed: &ParsedFile, offset: u32) -> Option<(Vec<Name>, Span)> {
    use saltus::language::lexer::TokenKind;
    let classes = crate::context::classes_at(&parsed.definition, offset);
    let class = classes.last()?;
    let lossless = saltus::language::lossless::Lossless::new(&parsed.source.text);
    let index = lossless.at(offset)?;
    let is_end = index > 0
        && lossless.tokens[index - 1].kind == TokenKind::End
        && lossless.token_text(index) == class.name.name.as_str();
    let token = lossless.tokens[index];
    let names = within(&parsed.definition).into_iter();
    let names = names
        .chain(classes.iter().map(|class| class.name.name))
        .collect();
    is_end.then(|| (names, Span::new(parsed.file, token.start, token.end)))
}

/// A place in a file of the class tree.
pub(crate) fn location(server: &Server<'_>, q: &mut Queries<'_>, span: Span) -> Option<Location> {
    let source = q.tree().sources.shared(span.file);
    let range = match server.documents.get(&source.name) {
        Some(document) => document.text.range_of(span),
        None => Text::new(source.text.clone()).range_of(span),
    };
    Some(Location::new(server.uri(&source.name)?, range))
}

/// The parameters of most requests.
pub(crate) fn place(params: &TextDocumentPositionParams) -> (&Uri, Position) {
    (&params.text_document.uri, params.position)
}
