//! `saltus format`

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct FormatArgs {
    /// Modelica files, and folders whose files are all formatted
    #[arg(value_name = "FILE.mo | FOLDER", required_unless_present = "stdin")]
    pub(crate) paths: Vec<PathBuf>,
    /// Change nothing, name the files that would change; exit code 0 if there is none, else 1
    #[arg(long)]
    pub(crate) check: bool,
    /// Read a text from standard input, write it to standard output
    #[arg(long, conflicts_with = "paths")]
    pub(crate) stdin: bool,
    /// Format only these lines, counted from 1
    #[arg(long, value_name = "FIRST:LAST", value_parser = lines)]
    pub(crate) lines: Option<RangeInclusive<u32>>,
}

fn lines(text: &str) -> Result<RangeInclusive<u32>, String> {
    let parsed = text.split_once(':').and_then(|(first, last)| {
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        (first >= 1 && first <= last).then_some(first..=last)
    });
    parsed.ok_or_else(|| "expected FIRST:LAST, as in 10:20".into())
}
