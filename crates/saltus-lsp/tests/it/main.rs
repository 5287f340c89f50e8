//! The server from outside, over a connection in memory. Texts of tests mark places: `<|>` is the cursor.

mod client;
mod completion;
mod documents;
mod library;
mod names;

use client::Client;
