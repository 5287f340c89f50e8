//! Parses every `.mo` file under a folder and reports how long it took: `parse_all DIR`.
//! With `--round-trip` also checks that the printed trees parse to the same trees.

use saltus_syntax::{SourceMap, parse, print_ast, render, source::decode};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().unwrap_or_else(|| ".".to_owned());
    let round_trip = args.next().is_some_and(|a| a == "--round-trip");
    let mut files = Vec::new();
    collect(Path::new(&dir), &mut files)?;
    files.sort();

    let mut out = std::io::stdout().lock();
    let mut sources = SourceMap::default();
    let mut n_diagnostics = 0;
    let mut ids = Vec::new();
    for file in &files {
        match decode(&file.display().to_string(), std::fs::read(file)?) {
            Ok(text) => ids.push(sources.add(file.display().to_string(), text)),
            Err(diagnostic) => {
                n_diagnostics += 1;
                writeln!(out, "{}", diagnostic.message)?;
            }
        }
    }
    let n_bytes: usize = ids.iter().map(|&id| sources.file(id).text.len()).sum();

    let start = Instant::now();
    let parsed: Vec<_> = ids
        .iter()
        .map(|&id| parse(id, &sources.file(id).text))
        .collect();
    let seconds = start.elapsed().as_secs_f64();

    for diagnostic in parsed.iter().flat_map(|p| &p.diagnostics) {
        n_diagnostics += 1;
        writeln!(out, "{}", render(diagnostic, &sources))?;
    }
    if round_trip {
        for (id, parsed) in ids.iter().zip(&parsed) {
            let printed = print_ast(&parsed.definition);
            let again = parse(*id, &printed);
            if !again.diagnostics.is_empty() || print_ast(&again.definition) != printed {
                writeln!(
                    out,
                    "{}: the printed tree does not parse to the same",
                    sources.file(*id).name
                )?;
            }
        }
    }
    writeln!(
        out,
        "{} files, {n_bytes} bytes, {n_diagnostics} diagnostics, {seconds:.3} s, {:.1} MB/s",
        ids.len(),
        n_bytes as f64 / seconds / 1e6
    )
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "mo") {
            files.push(path);
        }
    }
    Ok(())
}
