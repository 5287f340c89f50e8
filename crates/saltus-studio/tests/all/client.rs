//! A server of its own for each test, and a client without a browser.

use saltus::Session;
use saltus_studio::{Opened, Studio};
use serde_json::{Value as Json, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// An answer takes at most this long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(opened: Option<Opened>) -> Server {
        let mut studio = Studio::new(Session::new());
        if let Some(opened) = opened {
            studio = studio.open(opened);
        }
        let bound = studio.bind().expect("a free port");
        let address = bound.address().expect("an address");
        let rest = address
            .strip_prefix("http://127.0.0.1:")
            .expect("this computer");
        let (port, token) = rest.split_once("/?token=").expect("port and token");
        let server = Server {
            port: port.parse().expect("a number"),
            token: token.to_owned(),
        };
        std::thread::spawn(move || bound.serve());
        server
    }

    /// Status and whole text of an answer.
    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        self.request("GET", path, headers)
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .expect("sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("answered");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|s| s.parse().ok());
        (status.expect("a status"), text)
    }

    pub(crate) fn connect(&self) -> Client {
        self.try_connect(&self.token, None).expect("a socket")
    }

    pub(crate) fn try_connect(
        &self,
        token: &str,
        origin: Option<&str>,
    ) -> Result<Client, Box<tungstenite::Error>> {
        let address = format!("ws://127.0.0.1:{}/socket?token={token}", self.port);
        let mut request = address.into_client_request().expect("an address");
        if let Some(origin) = origin {
            let origin = origin.parse().expect("a header");
            request.headers_mut().insert("Origin", origin);
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client { socket, next: 1 }),
            Err(tungstenite::HandshakeError::Failure(error)) => Err(Box::new(error)),
            Err(_) => unreachable!("the stream blocks"),
        }
    }
}

pub(crate) struct Client {
    socket: WebSocket<TcpStream>,
    next: u64,
}

/// A message of the server; binary ones with their columns.
pub(crate) struct Reply {
    pub(crate) head: Json,
    pub(crate) columns: Vec<Vec<f64>>,
}

impl Client {
    pub(crate) fn send(&mut self, method: &str, params: Json) -> u64 {
        let id = self.next;
        self.next += 1;
        let message = match params {
            Json::Null => json!({ "id": id, "method": method }),
            params => json!({ "id": id, "method": method, "params": params }),
        };
        self.raw(&message.to_string());
        id
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.socket.send(Message::text(text)).expect("sent");
    }

    pub(crate) fn receive(&mut self) -> Reply {
        loop {
            match self.socket.read().expect("a message") {
                Message::Text(text) => {
                    return Reply {
                        head: serde_json::from_str(&text).expect("JSON"),
                        columns: Vec::new(),
                    };
                }
                Message::Binary(bytes) => return unpack(&bytes),
                _ => {}
            }
        }
    }

    /// The next message that fits.
    pub(crate) fn wait(&mut self, fits: impl Fn(&Json) -> bool) -> Reply {
        loop {
            let reply = self.receive();
            if fits(&reply.head) {
                return reply;
            }
        }
    }

    pub(crate) fn call(&mut self, method: &str, params: Json) -> Reply {
        let id = self.send(method, params);
        self.wait(|head| head["id"] == id)
    }

    /// Gives a text and waits for what is found in it.
    pub(crate) fn text(&mut self, path: &str, text: &str) -> Json {
        self.send("text", json!({ "path": path, "text": text, "class": null }));
        self.wait(|head| head["event"] == "checked").head
    }
}

fn unpack(bytes: &[u8]) -> Reply {
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
    let head: Json = serde_json::from_slice(&bytes[4..4 + length]).expect("JSON");
    let inner = if head["result"].is_null() {
        &head
    } else {
        &head["result"]
    };
    let rows = inner["rows"].as_u64().expect("rows") as usize;
    let body = &bytes[(4 + length).next_multiple_of(8)..];
    let numbers: Vec<f64> = (body.chunks_exact(8))
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
        .collect();
    let columns = match rows {
        0 => Vec::new(),
        rows => numbers.chunks_exact(rows).map(<[f64]>::to_vec).collect(),
    };
    Reply { head, columns }
}

/// A folder of its own for a test, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("studio-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("there")
}
