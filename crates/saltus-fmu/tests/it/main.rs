//! The library as other programs see it: opened at run time, called through C.

mod fmi2;
mod fmi3;
mod host;
mod many;
