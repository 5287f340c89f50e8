//! The language server: an editor's questions in, answers from a [`Session`] out.
//!
//! [`serve`] works over any transport that `lsp_server` has a connection for; `saltus lsp` gives it standard input and output. Messages are handled one after the
//! other in the order of their arrival, so that no answer belongs to another text than the question. Only the check of classes runs beside, on a copy of the session,
//! and ends when the next change comes.
//!
//! | file | what it owns |
//! |---|---|
//! | `server` | the loop, open documents, dispatch |
//! | `checks` | class checks in the background |
//! | `diagnostics` | messages of the compiler as diagnostics of the protocol |
//! | `text` | places and URIs |
//! | `context` | a document with its tree, the classes around a place |
//! | `features` | one file per question |

mod checks;
mod context;
mod diagnostics;
mod features;
mod server;
pub mod text;

pub use server::serve;

use lsp_server::Connection;
use saltus::Session;

/// Room for the recursion of the compiler, which is bounded.
pub(crate) const STACK_BYTES: usize = 256 << 20;

/// What goes wrong between server and client.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Serves standard input and output until the client ends it.
pub fn serve_stdio(session: Session) -> Result<(), Broken> {
    let (connection, threads) = Connection::stdio();
    serve(connection, session)?;
    threads.join()?;
    Ok(())
}
