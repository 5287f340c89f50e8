//! Puts the pages of `docs/errors` into the program, a table of (code, text), and the files of `library`, a table of (path, text).

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
    let library = Path::new(&root).join("../../library");
    println!("cargo::rerun-if-changed={}", library.display());
    let mut files = Vec::new();
    collect(&library, "", &mut files);
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &str)] = &[\n");
    for name in files {
        let path = library.join(&name);
        writeln!(table, "    ({name:?}, include_str!({path:?})),")
            .expect("writing to a String cannot fail");
    }
    table.push_str("];\n");
    fs::write(Path::new(&out).join("library.rs"), table).expect("the output folder can be written");
}

/// Modelica files and orders of packages below a folder, with slashes.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder)
        .expect("the library can be read")
        .flatten()
    {
        let name = entry.file_name().into_string().expect("names are text");
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if name.ends_with(".mo") || name == "package.order" {
            files.push(path);
        }
    }
}
