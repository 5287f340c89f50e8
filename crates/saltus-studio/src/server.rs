//! HTTP: the page and the socket, nothing else. Every request passes the guard first.

use crate::access::Guard;
use crate::connection;
use crate::page;
use crate::runs::Runs;
use crate::workspace::Workspace;
use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use saltus::Session;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

/// Compiling is recursive; its depth is bounded, and this is room for the bound.
const STACK_BYTES: usize = 512 << 20;
/// Requests that work at the same time; others wait.
const WORKERS_MAX: usize = 8;
/// The longest message of a page: the texts of a large library.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// What the page may load and do: only what comes from here. Styles are set by the editor at run time.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; \
     font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self' blob:";

/// Shared by all connections.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) runs: Arc<Runs>,
    guard: Guard,
}

impl State {
    pub(crate) fn new(session: Session, workspace: Workspace, guard: Guard) -> State {
        State {
            session,
            workspace: Arc::new(workspace),
            runs: Arc::default(),
            guard,
        }
    }
}

/// Answers until the process ends.
pub(crate) fn serve(listener: TcpListener, state: State) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .thread_stack_size(STACK_BYTES)
        .max_blocking_threads(WORKERS_MAX)
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = Router::new().fallback(move |request| answer(state.clone(), request));
        axum::serve(listener, router).await
    })
}

async fn answer(state: State, request: Request) -> Response {
    let guard = state.guard.clone();
    let mut response = match guard.check(request.uri(), request.headers()) {
        Err((status, why)) => (status, why).into_response(),
        Ok(()) => reply(state, request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn reply(state: State, request: Request) -> Response {
    if request.method() != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if request.uri().path() == "/socket" {
        let (mut parts, _) = request.into_parts();
        return match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => upgrade
                .max_message_size(MESSAGE_BYTES_MAX)
                .max_frame_size(MESSAGE_BYTES_MAX)
                .on_upgrade(|socket: WebSocket| connection::talk(socket, state)),
            Err(refused) => refused.into_response(),
        };
    }
    match page::asset(request.uri().path()) {
        Some(asset) => {
            let mut response = asset.content.into_response();
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
            if let Ok(cookie) = HeaderValue::from_str(&state.guard.cookie()) {
                headers.insert(header::SET_COOKIE, cookie);
            }
            response
        }
        None => (StatusCode::NOT_FOUND, "there is no such page").into_response(),
    }
}
