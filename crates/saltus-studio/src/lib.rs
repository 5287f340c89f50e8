//! The studio: a page in the browser in which models are seen, changed and understood, and the server behind it.
//!
//! Comes in: a [`Session`] with libraries and permissions, and what is to be opened. Goes out: a page on 127.0.0.1 that only the one who knows its address can use.
//!
//! | room | what it owns |
//! |---|---|
//! | `access` | who may talk to the server: token, Host, Origin |
//! | `page` | the built page, part of the binary |
//! | `server` | HTTP: the page and the socket, nothing else |
//! | `connection` | one socket: requests in, answers and streams out |
//! | `desk` | what one page has open: its texts, compiled models, work under way |
//! | `requests` | what can be asked for, and how answers are packed |
//! | `runs` | results that are kept for pages, and their way there |
//! | `workspace` | which files may be read and written |
//! | `start` | the models of the start page |
//!
//! The protocol is described in `docs/internals/studio.md`. Nothing here knows how a model is compiled or run: that is the facade's.

mod access;
mod connection;
mod desk;
mod page;
mod requests;
mod runs;
mod server;
mod start;
mod workspace;

use saltus::Session;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

pub use access::Token;
pub use workspace::{Opened, Workspace};

/// A server to be started.
pub struct Studio {
    session: Session,
    opened: Option<Opened>,
    port: u16,
}

/// A server that is bound to its port and has a token.
pub struct Bound {
    listener: TcpListener,
    token: Token,
    state: server::State,
}

impl Studio {
    /// With the libraries and permissions of a session; the files of its libraries may be looked at.
    pub fn new(session: Session) -> Studio {
        Studio {
            session,
            opened: None,
            port: 0,
        }
    }

    /// What the page shows first, and where it may write. A folder is a library path, too.
    pub fn open(mut self, opened: Opened) -> Studio {
        if let Opened::Folder(folder) = &opened {
            self.session.add_library_path(folder);
        }
        self.opened = Some(opened);
        self
    }

    /// A port of one's own choice; 0: a free one.
    pub fn port(mut self, port: u16) -> Studio {
        self.port = port;
        self
    }

    /// Takes the port, on this computer's own interface only.
    pub fn bind(self) -> io::Result<Bound> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let token = Token::new()?;
        let workspace = Workspace::new(self.opened, self.session.library_paths())?;
        let state = server::State::new(self.session, workspace, access::Guard::new(&token, port));
        Ok(Bound {
            listener,
            token,
            state,
        })
    }
}

impl Bound {
    /// The address of the page, token included.
    pub fn address(&self) -> io::Result<String> {
        let port = self.listener.local_addr()?.port();
        Ok(format!("http://127.0.0.1:{port}/?token={}", self.token))
    }

    /// Serves pages until the process ends.
    pub fn serve(self) -> io::Result<()> {
        server::serve(self.listener, self.state)
    }
}
