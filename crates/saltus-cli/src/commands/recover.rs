use std::fs::OpenOptions;
use std::path::Path;

use saltus_results::{Recovered, recover as recover_file};

use crate::args::RecoverArgs;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;

/// `saltus recover`
pub(crate) fn recover(args: &RecoverArgs) -> Outcome {
    for path in &args.results {
        print(&format!("{}: {}\n", path.display(), recover_one(path)?))?;
    }
    Ok(Exit::Done)
}

fn recover_one(path: &Path) -> Result<String, Failure> {
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    match ending.as_ref().and_then(|e| e.to_str()) {
        Some("mat" | "csv") => {}
        Some("parquet") => {
            return Ok("a Parquet file can be read at any moment and needs no recovery".into());
        }
        _ => {
            return Err(Failure::command_line(format!(
                "`{}`: results that can be recovered end with .csv or .mat",
                path.display()
            )));
        }
    }
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(|e| files::unreadable(path, &e))?;
    let recovered = recover_file(&path.to_string_lossy(), file);
    let Recovered {
        rows,
        time_end,
        removed,
    } = recovered.map_err(|e| files::unreadable(path, &e))?;
    let until = time_end.map_or(String::new(), |time| format!(" up to time {time}"));
    Ok(match removed {
        0 => format!("{rows} rows{until}; nothing had to be removed"),
        n => format!("{rows} rows{until}; {n} bytes that were no row are removed"),
    })
}
