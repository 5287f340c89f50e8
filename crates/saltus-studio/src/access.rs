//! Who may talk to the server.
//!
//! Comes in: the head of an HTTP request. Goes out: whether it is answered. Three things must hold: the Host is this server by number or as `localhost` (no name that somebody else
//! resolves to 127.0.0.1: DNS rebinding), an Origin, if there is one, is this server (no page of somebody else), and the token of this start is there, as `token` in the
//! query, as a cookie, or as a bearer.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use std::fmt;
use std::io;

/// Bytes of a token: more than can be guessed.
const TOKEN_BYTES: usize = 24;

/// The secret of one start of the server.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From the random numbers of the operating system.
    pub fn new() -> io::Result<Token> {
        let mut bytes = [0u8; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(Token(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Looks at all bytes, whatever the first ones are.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == given.len() && differences == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone)]
pub(crate) struct Guard {
    token: Token,
    hosts: [String; 2],
    cookie: String,
}

impl Guard {
    pub(crate) fn new(token: &Token, port: u16) -> Guard {
        Guard {
            token: token.clone(),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            // Cookies do not know ports: servers side by side must not take each other's.
            cookie: format!("saltus_{port}"),
        }
    }

    /// `Ok`: the request may be answered.
    pub(crate) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).or_else(|| uri.authority().map(|a| a.as_str()));
        if !host.is_some_and(|host| self.hosts.iter().any(|known| known == host)) {
            return Err((StatusCode::FORBIDDEN, "this server has another name"));
        }
        if let Some(origin) = text(header::ORIGIN) {
            let own = origin
                .strip_prefix("http://")
                .is_some_and(|host| self.hosts.iter().any(|known| known == host));
            if !own {
                return Err((
                    StatusCode::FORBIDDEN,
                    "pages of other servers may not ask here",
                ));
            }
        }
        match self.tokens(uri, headers).any(|given| self.token.is(given)) {
            true => Ok(()),
            false => Err((
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong: open the address that `saltus studio` has printed",
            )),
        }
    }

    fn tokens<'r>(&'r self, uri: &'r Uri, headers: &'r HeaderMap) -> impl Iterator<Item = &'r str> {
        let queries = uri.query().unwrap_or_default().split('&');
        let in_query = queries.filter_map(|pair| pair.strip_prefix("token="));
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let in_cookie = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|all| all.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter_map(|(name, value)| (name == self.cookie).then_some(value));
        let bearer = headers.get(header::AUTHORIZATION);
        let in_header = bearer
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
            .into_iter();
        in_query.chain(in_cookie).chain(in_header)
    }

    /// The header that lets the page ask again without the token in its address.
    pub(crate) fn cookie(&self) -> String {
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie, self.token
        )
    }
}
