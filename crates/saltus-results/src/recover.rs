//! Results that were not ended: by a process that was killed, or by a copy that was cut off.
//!
//! The readers of this library read most of them as they are. For those of other tools what is not a whole row is removed.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};

use crate::csv::CsvLayout;
use crate::mat4::MatLayout;
use crate::stream::Medium;
use crate::{ReadError, ResultReader};

/// What was found in a result.
#[derive(Clone, PartialEq, Debug)]
pub struct Recovered {
    pub rows: u64,
    /// The time of the last row.
    pub time_end: Option<f64>,
    /// Bytes that were no row.
    pub removed: u64,
}

/// Cuts a result, MAT v4 or CSV by the ending of its name, behind its last whole row.
pub fn recover<F>(file_name: &str, mut file: F) -> Result<Recovered, ReadError>
where
    F: Read + Write + Seek + Medium,
{
    let io = |e: std::io::Error| ReadError::io(&e);
    let len = file.seek(SeekFrom::End(0)).map_err(io)?;
    let end = if file_name.to_ascii_lowercase().ends_with(".mat") {
        let layout = MatLayout::open_cut(&mut file)?;
        let end = layout.end().ok_or_else(|| {
            ReadError::format("the rows are not side by side: nothing can be cut off behind them")
        })?;
        let (at, count) = layout.count()?;
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        file.write_all(&count).map_err(io)?;
        end
    } else {
        file.rewind().map_err(io)?;
        let (layout, _) = CsvLayout::open(&mut file)?;
        match layout.ends_every_line() {
            true => end_of_last_line(&mut file).map_err(io)?,
            false => len,
        }
    };
    if end < len {
        file.cut(end).map_err(io)?;
    }
    let mut rows = 0;
    let mut time_end = None;
    ResultReader::open(file_name, file)?.scan(&[], |time, _| {
        rows += 1;
        time_end = Some(time);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(Recovered {
        rows,
        time_end,
        removed: len - end,
    })
}

fn end_of_last_line(file: &mut (impl Read + Seek)) -> std::io::Result<u64> {
    file.rewind()?;
    let mut text = BufReader::new(file);
    let (mut at, mut end) = (0, 0);
    loop {
        let piece = text.fill_buf()?;
        if piece.is_empty() {
            return Ok(end);
        }
        if let Some(last) = piece.iter().rposition(|&b| b == b'\n') {
            end = at + last as u64 + 1;
        }
        let n = piece.len();
        at += n as u64;
        text.consume(n);
    }
}
