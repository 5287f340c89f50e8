//! The form of compiled models and saved states follows the data structures of the program, so its version is a checksum of the sources that define them.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The crates whose data or code such a file depends on.
const CRATES: [&str; 10] = [
    "saltus-syntax",
    "saltus-ir",
    "saltus-graph",
    "saltus-structure",
    "saltus-model",
    "saltus-codegen",
    "saltus-solve",
    "saltus-sim",
    "saltus-results",
    "saltus",
];

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets the manifest folder");
    let crates = Path::new(&root).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut files);
    }
    files.sort();
    // FNV-1a (Fowler, Noll, Vo) over the contents; line ends may differ between copies of the sources.
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        let text = fs::read_to_string(&file).expect("sources are UTF-8");
        for byte in text.bytes().filter(|b| *b != b'\r') {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=SALTUS_FORM={sum}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of a folder of sources").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
