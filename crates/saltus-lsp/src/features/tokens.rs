//! Colours that need the tree: what each identifier does. Keywords, texts, numbers and comments come with them, so that a client needs no grammar.

use super::{Answer, Asked};
use crate::server::Server;
use crate::text::Text;
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensResult,
};
use rustc_hash::FxHashMap;
use saltus::language::lexer::TokenKind;
use saltus::language::lossless::Lossless;
use saltus::language::syntax::{Causality, Restriction, Variability};
use saltus::language::{Role, occurrences};

const TYPES: [SemanticTokenType; 14] = [
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::TYPE,
    SemanticTokenType::CLASS,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::INTERFACE,
];
const NAMESPACE: u32 = 0;
const TYPE: u32 = 1;
const CLASS: u32 = 2;
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 4;
const PARAMETER: u32 = 5;
const PROPERTY: u32 = 6;
const ENUM_MEMBER: u32 = 7;
const KEYWORD: u32 = 8;
const STRING: u32 = 9;
const NUMBER: u32 = 10;
const COMMENT: u32 = 11;
const INTERFACE: u32 = 13;
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;

pub(super) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![
            SemanticTokenModifier::DECLARATION,
            SemanticTokenModifier::READONLY,
        ],
    }
}

pub(super) fn full(
    server: &mut Server<'_>,
    params: SemanticTokensParams,
) -> Answer<Option<SemanticTokensResult>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let lossless = Lossless::new(&asked.text.text);
    let mut roles: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
    occurrences(&asked.parsed.definition, (0, u32::MAX), &mut |at| {
        roles.insert(at.ident.span.start, kind_of(&at.role));
    });
    let mut writer = Writer {
        text: &asked.text,
        data: Vec::new(),
        last: (0, 0),
    };
    for (index, token) in lossless.tokens.iter().enumerate() {
        for comment in lossless.comments(index) {
            writer.add(comment.start, comment.end, (COMMENT, 0));
        }
        let kind = match token.kind {
            TokenKind::Ident => {
                let called = lossless
                    .tokens
                    .get(index + 1)
                    .is_some_and(|next| next.kind == TokenKind::LParen);
                match roles.get(&token.start) {
                    Some(&(VARIABLE, 0)) if called => Some((FUNCTION, 0)),
                    Some(&kind) => Some(kind),
                    None => None,
                }
            }
            TokenKind::String => Some((STRING, 0)),
            TokenKind::Integer | TokenKind::Real => Some((NUMBER, 0)),
            kind if kind.is_keyword() => Some((KEYWORD, 0)),
            _ => None,
        };
        if let Some(kind) = kind {
            writer.add(token.start, token.end, kind);
        }
    }
    Ok(Some(SemanticTokensResult::Tokens(SemanticTokens {
        result_id: None,
        data: writer.data,
    })))
}

fn kind_of(role: &Role<'_, '_>) -> (u32, u32) {
    match role {
        Role::Class(class) => match class.restriction {
            Restriction::Package => (NAMESPACE, DECLARATION),
            Restriction::Function | Restriction::OperatorFunction => (FUNCTION, DECLARATION),
            Restriction::Connector | Restriction::ExpandableConnector => (INTERFACE, DECLARATION),
            Restriction::Type => (TYPE, DECLARATION),
            _ => (CLASS, DECLARATION),
        },
        Role::Component(decl) => {
            match (decl.type_prefixes.variability, decl.type_prefixes.causality) {
                (Some(Variability::Constant | Variability::Parameter), _) => {
                    (PARAMETER, DECLARATION | READONLY)
                }
                (_, Some(Causality::Input)) => (PARAMETER, DECLARATION),
                _ => (VARIABLE, DECLARATION),
            }
        }
        Role::Literal(_) => (ENUM_MEMBER, DECLARATION),
        Role::Iterator => (VARIABLE, DECLARATION),
        Role::Alias(_) => (NAMESPACE, DECLARATION),
        Role::Type(path, part) if part + 1 == path.parts.len() => (TYPE, 0),
        Role::Type(..) | Role::Import(..) | Role::ImportedFrom(_) | Role::Within(..) => {
            (NAMESPACE, 0)
        }
        Role::Reference(..) => (VARIABLE, 0),
        Role::Modifier(..) => (PROPERTY, 0),
        Role::Argument(_) => (PARAMETER, 0),
    }
}

struct Writer<'t> {
    text: &'t Text,
    data: Vec<SemanticToken>,
    last: (u32, u32),
}

impl Writer<'_> {
    /// One token a line: clients do not take longer ones.
    fn add(&mut self, start: u32, end: u32, (token_type, modifiers): (u32, u32)) {
        let mut at = start as usize;
        for line in self.text.text[start as usize..end as usize].split_inclusive('\n') {
            let shown = line.trim_end_matches(['\n', '\r']);
            let length = shown.encode_utf16().count() as u32;
            if length > 0 {
                let place = self.text.position(at);
                let delta_line = place.line - self.last.0;
                let delta_start = match delta_line {
                    0 => place.character - self.last.1,
                    _ => place.character,
                };
                self.data.push(SemanticToken {
                    delta_line,
                    delta_start,
                    length,
                    token_type,
                    token_modifiers_bitset: modifiers,
                });
                self.last = (place.line, place.character);
            }
            at += line.len();
        }
    }
}
