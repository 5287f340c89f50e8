//! Puts the pages of `docs/errors` into the program: a table of (code, text).

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets the manifest folder");
    let folder = Path::new(&root).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut codes: Vec<String> = fs::read_dir(&folder)
        .expect("docs/errors exists")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()))
        .collect();
    codes.sort();
    let mut table = String::from("pub(crate) const PAGES: &[(&str, &str)] = &[\n");
    for code in codes {
        let path = folder.join(format!("{code}.md"));
        writeln!(table, "    ({code:?}, include_str!({path:?})),")
            .expect("writing to a String cannot fail");
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets the output folder");
    fs::write(Path::new(&out).join("pages.rs"), table).expect("the output folder can be written");
}
