//! The server from outside, as a page or an attacker sees it.

mod client;

mod access;
mod files;
mod runs;
