//! Reading result files of any size.
//!
//! Comes in: a file. Goes out: what is asked for, in one pass over its rows: some variables, some rows, or all. The file itself is never in memory as a whole, so that the memory
//! follows from what is asked for.

use std::io::{BufReader, Cursor, Read, Seek};
use std::ops::ControlFlow;

use crate::csv::CsvLayout;
use crate::mat4::MatLayout;
use crate::parquet::ParquetLayout;
use crate::{ReadError, ResultTable, SeriesId};

/// A result file that is open for reading.
pub struct ResultReader<R: Read + Seek> {
    source: BufReader<R>,
    layout: Layout,
    outline: ResultTable,
}

enum Layout {
    Mat(MatLayout),
    Csv(CsvLayout),
    Parquet(ParquetLayout),
}

/// Text is read in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

impl<R: Read + Seek> ResultReader<R> {
    /// Reads names and constants; the format follows from the ending of the name.
    pub fn open(file_name: &str, mut source: R) -> Result<ResultReader<R>, ReadError> {
        let lower = file_name.to_ascii_lowercase();
        let (layout, outline) = if lower.ends_with(".mat") {
            let (layout, outline) = MatLayout::open(&mut source)?;
            (Layout::Mat(layout), outline)
        } else if lower.ends_with(".csv") {
            source.rewind().map_err(|e| ReadError::io(&e))?;
            let (layout, outline) = CsvLayout::open(&mut source)?;
            (Layout::Csv(layout), outline)
        } else if lower.ends_with(".parquet") {
            let (layout, outline) = ParquetLayout::open(&mut source)?;
            (Layout::Parquet(layout), outline)
        } else {
            return Err(ReadError::format(
                "the ending must be .csv, .mat or .parquet to say what the file is",
            ));
        };
        Ok(ResultReader {
            source: BufReader::with_capacity(PIECE_BYTES, source),
            layout,
            outline,
        })
    }

    /// The variables, in a table without rows.
    pub fn outline(&self) -> &ResultTable {
        &self.outline
    }

    /// Goes through all rows: the time and the values of some trajectories, by increasing number.
    pub(crate) fn scan(
        &mut self,
        wanted: &[SeriesId],
        mut visit: impl FnMut(f64, &[f64]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let mut rows = self.rows(wanted)?;
        while let Some((time, values)) = rows.next()? {
            if visit(time, values).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Begins with the first row.
    pub(crate) fn rows(&mut self, wanted: &[SeriesId]) -> Result<Rows<'_, R>, ReadError> {
        let place = match &self.layout {
            Layout::Mat(_) => Place::Mat {
                n_read: 0,
                piece: Vec::new(),
                at: 0,
                time: f64::NEG_INFINITY,
            },
            Layout::Csv(layout) => Place::Csv {
                rows: layout.first_row(&mut self.source)?,
                row: Vec::new(),
            },
            Layout::Parquet(_) => Place::Parquet {
                group: 0,
                columns: Vec::new(),
                at: 0,
                row: Vec::new(),
                time: f64::NEG_INFINITY,
            },
        };
        Ok(Rows {
            file: self,
            wanted: wanted.to_vec(),
            place,
        })
    }

    /// All rows of all variables.
    pub fn read_all(&mut self) -> Result<ResultTable, ReadError> {
        let wanted: Vec<SeriesId> = (0..self.outline.n_series() as u32).map(SeriesId).collect();
        let outline = self.outline.clone();
        self.collect(outline, &wanted)
    }

    /// All rows of some variables. Names that the file does not have are left out.
    pub fn read(&mut self, names: &[String]) -> Result<ResultTable, ReadError> {
        let (outline, wanted) = self.outline.outline_of(names);
        self.collect(outline, &wanted)
    }

    /// The same, if it needs no more than so many bytes.
    pub(crate) fn read_if_small(
        &mut self,
        names: &[String],
        bytes_max: usize,
    ) -> Result<Option<ResultTable>, ReadError> {
        let (outline, wanted) = self.outline.outline_of(names);
        let rows_max = bytes_max / (size_of::<f64>() * (wanted.len() + 1));
        let mut kept = Kept::new(outline);
        let mut is_small = true;
        self.scan(&wanted, |t, values| {
            is_small = kept.time.len() < rows_max;
            if !is_small {
                return ControlFlow::Break(());
            }
            kept.push((t, values));
            ControlFlow::Continue(())
        })?;
        Ok(is_small.then(|| kept.finish()))
    }

    fn collect(
        &mut self,
        outline: ResultTable,
        wanted: &[SeriesId],
    ) -> Result<ResultTable, ReadError> {
        let mut kept = Kept::new(outline);
        self.scan(wanted, |t, values| {
            kept.push((t, values));
            ControlFlow::Continue(())
        })?;
        Ok(kept.finish())
    }

    /// The rows around a time, by default the last ones, of all variables: what interpolation at that time needs. The first and the last row are there, too.
    pub fn read_around(&mut self, time: Option<f64>) -> Result<ResultTable, ReadError> {
        let wanted: Vec<SeriesId> = (0..self.outline.n_series() as u32).map(SeriesId).collect();
        let mut kept = Kept::new(self.outline.clone());
        let (mut last, mut before): (Option<Row>, Option<Row>) = (None, None);
        let mut is_after = false;
        self.scan(&wanted, |t, values| {
            let row = (t, values.to_vec());
            match time {
                Some(at) if t >= at && !is_after => {
                    before.take().into_iter().for_each(|row| kept.push_row(row));
                    is_after = t > at;
                    kept.push((t, values));
                }
                _ if kept.is_empty() => kept.push((t, values)),
                _ if !is_after => before = Some(row.clone()),
                _ => {}
            }
            last = Some(row);
            ControlFlow::Continue(())
        })?;
        last.into_iter().for_each(|row| kept.push_row(row));
        Ok(kept.finish())
    }

    /// Some variables, with about `n` rows: of each group of neighbouring rows the first, the last and those with the smallest and the largest value of each trajectory. Their
    /// pictures are the same as those of all rows.
    pub fn read_thinned(&mut self, names: &[String], n: usize) -> Result<ResultTable, ReadError> {
        let (outline, wanted) = self.outline.outline_of(names);
        let mut n_rows = 0_usize;
        self.scan(&[], |_, _| {
            n_rows += 1;
            ControlFlow::Continue(())
        })?;
        let of_group = 2 * wanted.len() + 2;
        let group_len = n_rows.div_ceil((n / of_group).max(1));
        if group_len <= of_group {
            return self.collect(outline, &wanted);
        }
        let mut kept = Kept::new(outline);
        let mut group = Group::default();
        self.scan(&wanted, |t, values| {
            if group.n_rows == group_len {
                group.keep(&mut kept);
            }
            group.add(t, values);
            ControlFlow::Continue(())
        })?;
        group.keep(&mut kept);
        Ok(kept.finish())
    }
}

type Row = (f64, Vec<f64>);

/// Rows that were chosen.
struct Kept {
    outline: ResultTable,
    time: Vec<f64>,
    series: Vec<Vec<f64>>,
}

impl Kept {
    fn new(outline: ResultTable) -> Kept {
        Kept {
            series: vec![Vec::new(); outline.n_series()],
            outline,
            time: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    fn push(&mut self, (time, values): (f64, &[f64])) {
        self.time.push(time);
        for (column, value) in self.series.iter_mut().zip(values) {
            column.push(*value);
        }
    }

    fn push_row(&mut self, (time, values): Row) {
        self.push((time, &values));
    }

    fn finish(self) -> ResultTable {
        self.outline.with_rows(self.time, self.series)
    }
}

/// Neighbouring rows, of which those are kept that a picture shows.
#[derive(Default)]
struct Group {
    n_rows: usize,
    /// The first row, the last one, and for each trajectory the lowest and the highest.
    rows: Vec<Numbered>,
}

/// A row and its number in its group.
#[derive(Default, Clone)]
struct Numbered {
    number: usize,
    time: f64,
    values: Vec<f64>,
}

impl Numbered {
    /// Takes the place of another row, in the same memory.
    fn set(&mut self, number: usize, time: f64, values: &[f64]) {
        (self.number, self.time) = (number, time);
        values.clone_into(&mut self.values);
    }
}

impl Group {
    fn add(&mut self, time: f64, values: &[f64]) {
        let number = self.n_rows;
        if number == 0 {
            self.rows
                .resize_with(2 + 2 * values.len(), Numbered::default);
            for row in &mut self.rows {
                row.set(0, time, values);
            }
        }
        let [_, last, extremes @ ..] = &mut self.rows[..] else {
            unreachable!("a group has its first and its last row");
        };
        last.set(number, time, values);
        for (k, value) in values.iter().enumerate() {
            if *value < extremes[2 * k].values[k] {
                extremes[2 * k].set(number, time, values);
            }
            if *value > extremes[2 * k + 1].values[k] {
                extremes[2 * k + 1].set(number, time, values);
            }
        }
        self.n_rows += 1;
    }

    /// Hands over the rows that are kept and begins anew.
    fn keep(&mut self, kept: &mut Kept) {
        if self.n_rows == 0 {
            return;
        }
        self.rows.sort_by_key(|row| row.number);
        let mut before = None;
        for row in &self.rows {
            if before != Some(row.number) {
                kept.push((row.time, &row.values));
            }
            before = Some(row.number);
        }
        self.n_rows = 0;
    }
}

/// The rows of a file, one after the other.
pub(crate) struct Rows<'r, R: Read + Seek> {
    file: &'r mut ResultReader<R>,
    wanted: Vec<SeriesId>,
    place: Place,
}

enum Place {
    Mat {
        n_read: u64,
        /// Rows that were read and not yet given, from `at` on.
        piece: Vec<f64>,
        at: usize,
        time: f64,
    },
    Csv {
        rows: crate::csv::CsvRows,
        row: Vec<f64>,
    },
    Parquet {
        /// The group that is read next.
        group: usize,
        /// Time and trajectories of the group before it, from row `at` on.
        columns: Vec<Vec<f64>>,
        at: usize,
        row: Vec<f64>,
        time: f64,
    },
}

impl<R: Read + Seek> Rows<'_, R> {
    /// The time of the next row and the values of the trajectories.
    pub(crate) fn next(&mut self) -> Result<Option<(f64, &[f64])>, ReadError> {
        let source = &mut self.file.source;
        match (&mut self.place, &self.file.layout) {
            (
                Place::Mat {
                    n_read,
                    piece,
                    at,
                    time,
                },
                Layout::Mat(layout),
            ) => {
                let stride = self.wanted.len() + 1;
                if *at == piece.len() {
                    if *n_read == layout.n_rows() {
                        return Ok(None);
                    }
                    layout.read_rows(source, *n_read, &self.wanted, piece)?;
                    *n_read += (piece.len() / stride) as u64;
                    *at = 0;
                }
                let row = &piece[*at..*at + stride];
                *at += stride;
                if row[0] < *time || !row[0].is_finite() {
                    return Err(ReadError::format("time goes back or is not a number"));
                }
                *time = row[0];
                Ok(Some((row[0], &row[1..])))
            }
            (Place::Csv { rows, row }, Layout::Csv(layout)) => {
                let found = layout.read_row(source, rows, &self.wanted, row)?;
                Ok(found.then(|| (row[0], &row[1..])))
            }
            (
                Place::Parquet {
                    group,
                    columns,
                    at,
                    row,
                    time,
                },
                Layout::Parquet(layout),
            ) => {
                while columns.first().is_none_or(|column| *at == column.len()) {
                    if *group == layout.n_groups() {
                        return Ok(None);
                    }
                    *columns = layout.read_group(source, *group, &self.wanted)?;
                    *group += 1;
                    *at = 0;
                }
                row.clear();
                row.extend(columns.iter().map(|column| column[*at]));
                *at += 1;
                if row[0] < *time || !row[0].is_finite() {
                    return Err(ReadError::format("time goes back or is not a number"));
                }
                *time = row[0];
                Ok(Some((row[0], &row[1..])))
            }
            _ => unreachable!("the place was made for the layout"),
        }
    }
}

/// Reads a result, MAT v4, CSV or Parquet; the format follows from the name's ending.
pub fn read_result(file_name: &str, bytes: &[u8]) -> Result<ResultTable, ReadError> {
    read_whole(file_name, bytes)
}

pub(crate) fn read_whole(file_name: &str, bytes: &[u8]) -> Result<ResultTable, ReadError> {
    ResultReader::open(file_name, Cursor::new(bytes))?.read_all()
}
