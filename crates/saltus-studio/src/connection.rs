//! One socket: requests are taken in their order, work goes to threads of its own, answers go out as they are made.
//!
//! A change of a text takes effect before the next message is looked at. Work sees the texts as they were when it was asked for. When the socket closes, its work is cancelled.

use crate::desk::Desk;
use crate::requests::{Message, Outbox};
use crate::server::State;
use axum::extract::ws::{Message as Frame, WebSocket};
use tokio::sync::mpsc;

/// Messages that wait for a slow page; work then waits, too.
const WAITING_MAX: usize = 64;

pub(crate) async fn talk(mut socket: WebSocket, state: State) {
    let (send, mut outgoing) = mpsc::channel(WAITING_MAX);
    let mut desk = Desk::new(state, Outbox::new(send));
    loop {
        tokio::select! {
            frame = socket.recv() => match frame {
                Some(Ok(Frame::Text(text))) => match serde_json::from_str::<Message>(&text) {
                    Ok(message) => desk.take(message),
                    Err(why) => desk.refuse(&text, &why.to_string()),
                },
                Some(Ok(Frame::Binary(_) | Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Ok(Frame::Close(_)) | Err(_)) | None => break,
            },
            message = outgoing.recv() => match message {
                Some(message) => if socket.send(message).await.is_err() { break },
                None => break,
            },
        }
    }
    desk.close();
}
