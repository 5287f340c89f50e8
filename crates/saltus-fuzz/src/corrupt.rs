//! Damaged files: results of all formats and saved states, with bytes changed, left out, doubled or cut off. A reader gives a table or a
//! message, never a panic.

use crate::random::Random;
use saltus::results::{ResultTable, read_result, recover, write_csv, write_mat, write_parquet};
use saltus::{Session, State};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Sound files to damage: name and content.
pub fn originals() -> Result<Vec<(String, Vec<u8>)>, saltus::Error> {
    let mut session = Session::new();
    session.set_text(
        "Sound.mo",
        "model Sound
           parameter Real p = 2 \"a text\";
           Real x(start = 1, fixed = true);
           Real v[2](each start = 0, each fixed = true);
           Integer n(start = 0, fixed = true);
           Boolean on = x > 0.5;
         equation
           der(x) = -p*x;
           der(v) = {x, n};
           when sample(0.1, 0.1) then
             n = pre(n) + 1;
           end when;
         end Sound;",
    );
    let model = session.compile("Sound")?;
    let run = model.experiment().stop_time(1.0).intervals(20).simulate()?;
    let mut files = Vec::new();
    let written = |error: std::io::Error| saltus::Error::Usage(error.to_string());
    let table: &ResultTable = &run.table;
    let mut csv = Vec::new();
    write_csv(table, &mut csv).map_err(written)?;
    files.push(("a.csv".to_owned(), csv));
    let mut mat = Vec::new();
    write_mat(table, &mut mat).map_err(written)?;
    files.push(("a.mat".to_owned(), mat));
    let mut parquet = Cursor::new(Vec::new());
    write_parquet(table, &mut parquet).map_err(written)?;
    files.push(("a.parquet".to_owned(), parquet.into_inner()));
    let mut simulator = model.simulator()?;
    simulator.advance_to(0.55)?;
    files.push(("a.state".to_owned(), simulator.save()?.to_bytes()));
    Ok(files)
}

/// A damaged copy.
pub fn damage(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            break;
        }
        // Headers and ends decide more than the middle.
        let at = match random.below(3) {
            0 => random.below(bytes.len().min(256)),
            1 => bytes.len() - 1 - random.below(bytes.len().min(512)),
            _ => random.below(bytes.len()),
        };
        let span = (1 + random.below(16)).min(bytes.len() - at);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => drop(bytes.drain(at..at + span)),
            3 => {
                let copied = bytes[at..at + span].to_vec();
                bytes.splice(at..at, copied);
            }
            4 => bytes.truncate(at),
            _ => bytes[at..at + span].fill(0xff),
        }
    }
    bytes
}

/// Whether the readers survive: true for a table or a message.
pub fn survives(name: &str, bytes: &[u8]) -> bool {
    let read = catch_unwind(AssertUnwindSafe(|| {
        if name.ends_with(".state") {
            // A message or a state: both are answers.
            let _ = State::from_bytes(bytes);
            return;
        }
        let _ = read_result(name, bytes);
        let mut file = Cursor::new(bytes.to_vec());
        let _ = recover(name, &mut file);
    }));
    read.is_ok()
}
