//! Puts the shared library of crate `saltus-fmu` into the program that is being compiled.
//!
//! A program that exports FMUs needs the library wherever it is: after `cargo build`, in tests, after `cargo install`, which copies the program alone, and in a Python wheel. So it
//! is a part of the program. Cargo builds it before the program, because the program depends on its crate; what cargo does not do (artifact dependencies are
//! unstable) is to say where it is. The compiler knows: it was told by `--extern` where the other form of the same crate is, and cargo writes both into one
//! folder. A build script would not do: it runs before, and would have to build the whole compiler a second time.
//!
//! When code is only checked, no library is built, and none is put in.

use proc_macro::{Delimiter, Group, Literal, Punct, Spacing, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

const LEVEL: u8 = 8;

/// `shared_library!(name)` is `(deflated bytes, CRC-32, size)` of the library that cargo has built from crate `name`; of no bytes if it has built none.
#[proc_macro]
pub fn shared_library(input: TokenStream) -> TokenStream {
    let name = input.to_string();
    let contents = match find(name.trim()).map(std::fs::read) {
        Some(Ok(contents)) => contents,
        Some(Err(_)) | None => Vec::new(),
    };
    let deflated = match contents.is_empty() {
        true => Vec::new(),
        false => miniz_oxide::deflate::compress_to_vec(&contents, LEVEL),
    };
    let comma = || TokenTree::Punct(Punct::new(',', Spacing::Alone));
    let tuple: TokenStream = [
        TokenTree::Literal(Literal::byte_string(&deflated)),
        comma(),
        TokenTree::Literal(Literal::u32_suffixed(crc32fast::hash(&contents))),
        comma(),
        TokenTree::Literal(Literal::u32_suffixed(contents.len() as u32)),
    ]
    .into_iter()
    .collect();
    TokenTree::Group(Group::new(Delimiter::Parenthesis, tuple)).into()
}

/// The library beside the form of the crate that this compilation links with.
fn find(name: &str) -> Option<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let arguments: Vec<String> = std::env::args().collect();
    let linked = (arguments.iter()).find_map(|argument| {
        let argument = argument.strip_prefix("--extern=").unwrap_or(argument);
        let (known, path) = argument.split_once('=')?;
        // Cargo may put options before the name: `priv:name`.
        let known = known.rsplit(':').next()?;
        (known == name && path.ends_with(".rlib")).then(|| Path::new(path))
    })?;
    let library = linked.with_file_name(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    library.is_file().then_some(library)
}
