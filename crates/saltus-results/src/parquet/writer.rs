//! A Parquet file that is written while a run goes on and can be read at any moment.
//!
//! Readers find the description by the last eight bytes of the file, so nothing can be appended without making it unreadable for a while. Therefore the end of the file lies
//! ahead of the data, with a gap (a hole of the file, which takes no room on the disk), and what is written goes into the gap:
//!
//! ```text
//! PAR1 complete groups | last group, two versions | gap | description A | description B | length PAR1
//! ```
//!
//! - The last group grows in memory. `flush`, and a group that has doubled, writes it to a free place, writes the description that names it into the one of two places that does not hold the valid one, and then
//!   the length in the last eight bytes, which says where the description begins. That is one write of four bytes: before it the old description is valid, after it the new one.
//! - Bytes between the end of the valid description and the length are no part of it; a Thrift structure knows its end.
//! - Where the gap is used up, a new end is written further on by one write of eight bytes. Its length leads back to the old description, which is then copied.
//! - At the end of the run the description is written directly behind the data, with a length of its own, and the file is cut there.
//!
//! A process that is killed at any moment, or a disk that is full, leaves a file with all groups up to the last `flush`. The order in which a system without power has written to its
//! disk is another matter.

use std::io::{self, Seek, SeekFrom};
use std::ops::Range;

use super::description::{Group, PhysicalType, describe, group_at};
use super::{MAGIC, TRAILER_LEN, plain, trailer};
use crate::stream::Medium;
use crate::{ResultTable, RowSink, Source};

/// A row group with more bytes is complete.
const GROUP_BYTES: usize = 16 << 20;
/// A group in the making is written each time that it has doubled, if it has so many bytes and such a share of the file: a short run that is killed loses half of its rows at most.
const VERSION_BYTES_MIN: usize = 64 << 10;
const VERSION_SHARE: u64 = 8;
/// The new end of a file is so much further on: a share of its length, within bounds.
const GAP_SHARE: u64 = 4;
const GAP_BYTES_MIN: u64 = 64 << 10;
const GAP_BYTES_MAX: u64 = 256 << 20;
/// A description has room to grow by this factor before it is moved.
const DESCRIPTION_ROOM: u64 = 2;
/// Complete groups are described at once if they are so many times as large as the description, else with the next `flush`.
const DESCRIBED_SHARE: u64 = 4;

/// Writes rows as they come.
pub struct ParquetWriter<W: Medium + Seek> {
    out: W,
    schema: Vec<(String, PhysicalType)>,
    sources: Vec<Source>,
    /// Groups that are complete, and where the next one begins.
    groups: Vec<Group>,
    base: u64,
    /// The values of each column in the group in the making, and what is in the file of it.
    columns: Vec<Vec<f64>>,
    version: Option<Version>,
    /// Bytes of groups that the valid description does not name.
    n_undescribed: u64,
    /// Time of the last row of the complete groups, and of the last that is described.
    time_complete: Option<f64>,
    time_written: Option<f64>,
    group_bytes: usize,
    layout: Layout,
}

/// The last group in the file: a beginning of what is in memory.
struct Version {
    place: Range<u64>,
    group: Group,
}

/// The end of the file: two places for descriptions, and the length.
#[derive(Clone, Copy)]
struct Layout {
    len: u64,
    /// Room of one description.
    room: u64,
    /// Where the valid description begins.
    valid_at: u64,
}

impl Layout {
    fn trailer_at(&self) -> u64 {
        self.len - TRAILER_LEN as u64
    }

    fn places_at(&self) -> u64 {
        self.trailer_at() - 2 * self.room
    }

    /// Where the gap ends.
    fn gap_end(&self) -> u64 {
        self.places_at().min(self.valid_at)
    }

    /// The place that does not hold the valid description.
    fn free_at(&self) -> u64 {
        if self.valid_at == self.places_at() {
            self.places_at() + self.room
        } else {
            self.places_at()
        }
    }
}

impl<W: Medium + Seek> ParquetWriter<W> {
    /// `out` must be empty and is written from its beginning.
    pub fn new(out: W) -> ParquetWriter<W> {
        ParquetWriter {
            out,
            schema: Vec::new(),
            sources: Vec::new(),
            groups: Vec::new(),
            base: MAGIC.len() as u64,
            columns: Vec::new(),
            version: None,
            n_undescribed: 0,
            time_complete: None,
            time_written: None,
            group_bytes: GROUP_BYTES,
            layout: Layout {
                len: MAGIC.len() as u64,
                room: 0,
                valid_at: MAGIC.len() as u64,
            },
        }
    }

    /// Row groups get about this size; they are kept in memory until they have it.
    pub fn group_bytes(mut self, bytes: usize) -> ParquetWriter<W> {
        self.group_bytes = bytes;
        self
    }

    fn n_pending(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    fn is_complete(&self) -> bool {
        self.n_pending() * self.columns.len() * size_of::<f64>() >= self.group_bytes
    }

    /// The group in memory is much longer than its version in the file, and a good part of all that is there.
    fn is_due(&self) -> bool {
        let n_bytes = self.n_pending() * self.columns.len() * size_of::<f64>();
        let n_written = self.version.as_ref().map_or(0, |v| v.group.n_rows);
        n_bytes >= VERSION_BYTES_MIN
            && n_bytes as u64 >= self.base / VERSION_SHARE
            && self.n_pending() >= 2 * n_written
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(at))?;
        self.out.write_all(bytes)
    }

    fn description(&self) -> Vec<u8> {
        let version = self.version.as_ref().map(|version| &version.group);
        describe(&self.schema, self.groups.iter().chain(version))
    }

    /// Makes the gap reach to `data_end`.
    fn reserve(&mut self, data_end: u64) -> io::Result<()> {
        if data_end <= self.layout.gap_end() {
            return Ok(());
        }
        self.move_end(data_end, self.layout.room)
    }

    /// Writes a new end behind the old one and behind `data_end`.
    fn move_end(&mut self, data_end: u64, room: u64) -> io::Result<()> {
        let begin = data_end.max(self.layout.len);
        let gap = (begin / GAP_SHARE).clamp(GAP_BYTES_MIN, GAP_BYTES_MAX);
        self.set_end(begin + gap, room)
            // A limit on the size of the file may leave less.
            .or_else(|_| self.set_end(begin, room))?;
        self.describe()
    }

    /// Writes a new end, with places for descriptions from a position on. The old end stays as it is until the new one is there.
    fn set_end(&mut self, places_at: u64, room: u64) -> io::Result<()> {
        let old = self.layout;
        // The last eight bytes are inside one page: they are written at once or not at all.
        let end = places_at + 2 * room + TRAILER_LEN as u64;
        let len = end.next_multiple_of(TRAILER_LEN as u64);
        let trailer_at = len - TRAILER_LEN as u64;
        let bytes = trailer((trailer_at - old.valid_at) as usize)?;
        self.write_at(trailer_at, &bytes)?;
        self.layout = Layout { len, room, ..old };
        Ok(())
    }

    /// Writes the description of what is in the file, and makes it the valid one.
    fn describe(&mut self) -> io::Result<()> {
        let description = self.description();
        let needed = description.len() as u64;
        if needed > self.layout.room {
            return self.move_end(self.layout.len, DESCRIPTION_ROOM * needed);
        }
        let at = self.layout.free_at();
        self.write_at(at, &description)?;
        let trailer_at = self.layout.trailer_at();
        let bytes = trailer((trailer_at - at) as usize)?;
        self.write_at(trailer_at, &bytes[..4])?;
        self.layout.valid_at = at;
        self.n_undescribed = 0;
        let version = self.version.as_ref().and_then(|version| {
            let last = version.group.n_rows.checked_sub(1)?;
            self.columns[0].get(last).copied()
        });
        self.time_written = version.or(self.time_complete);
        Ok(())
    }

    /// Writes the group in memory to a place that the valid description does not use: directly behind the complete groups if that is free. Returns the version before.
    fn place(&mut self) -> io::Result<Option<Version>> {
        let n_rows = self.n_pending();
        let at = |at| group_at(at, self.columns.iter().map(|c| plain(c)), n_rows);
        let (mut bytes, mut group) = at(self.base);
        let mut begin = self.base;
        if let Some(version) = &self.version
            && begin + bytes.len() as u64 > version.place.start
        {
            begin = version.place.end;
            (bytes, group) = at(begin);
        }
        let place = begin..begin + bytes.len() as u64;
        self.reserve(place.end)?;
        self.write_at(begin, &bytes)?;
        self.n_undescribed += bytes.len() as u64;
        Ok(self.version.replace(Version { place, group }))
    }

    /// Writes the group in memory and its description.
    fn place_and_describe(&mut self) -> io::Result<()> {
        let before = self.place()?;
        let described = self.describe();
        if described.is_err() {
            self.version = before;
        }
        described
    }

    /// Ends the group in memory, directly behind those that are complete.
    fn complete(&mut self) -> io::Result<()> {
        if self.version.is_none() {
            self.place()?;
            let described = self.layout.trailer_at() - self.layout.valid_at;
            if self.n_undescribed >= DESCRIBED_SHARE * described {
                self.describe()?;
            }
        }
        // A version behind the one that is replaced leaves room for the next in front.
        for _ in 0..3 {
            match &self.version {
                Some(version)
                    if version.place.start == self.base
                        && version.group.n_rows == self.n_pending() =>
                {
                    break;
                }
                _ => self.place_and_describe()?,
            }
        }
        if let Some(version) = self.version.take() {
            self.base = version.place.end;
            self.groups.push(version.group);
        }
        self.time_complete = self.columns[0].last().copied();
        self.columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    /// Ends the file directly behind the data. If there is no room for that, it stays as it is and can be read.
    fn compact(&mut self) -> io::Result<()> {
        let mut bytes = self.description();
        bytes.extend(trailer(bytes.len())?);
        let end = self.base + bytes.len() as u64;
        self.reserve(end)?;
        self.write_at(self.base, &bytes)?;
        self.out.cut(end)
    }
}

impl<W: Medium + Seek> RowSink for ParquetWriter<W> {
    fn begin(&mut self, outline: &ResultTable, _time_start: f64) -> io::Result<()> {
        self.schema.push(("time".to_owned(), PhysicalType::Double));
        for (name, variable) in outline.variables() {
            self.schema.push((name.to_owned(), PhysicalType::Double));
            self.sources.push(variable.source);
        }
        self.columns = vec![Vec::new(); self.schema.len()];
        self.write_at(0, MAGIC)?;
        self.describe()
    }

    fn row(&mut self, time: f64, series: &[f64]) -> io::Result<()> {
        self.columns[0].push(time);
        for (column, source) in self.columns[1..].iter_mut().zip(&self.sources) {
            column.push(source.value(series));
        }
        if self.is_complete() {
            self.complete()?;
        } else if self.is_due() {
            self.place_and_describe()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let n_written = self.version.as_ref().map_or(0, |v| v.group.n_rows);
        if n_written < self.n_pending() {
            self.place_and_describe()?;
        } else if self.n_undescribed > 0 {
            self.describe()?;
        }
        self.out.flush()
    }

    fn time_written(&self) -> Option<f64> {
        self.time_written
    }

    fn finish(&mut self) -> io::Result<()> {
        let written = match self.n_pending() {
            0 => Ok(()),
            _ => self.complete(),
        };
        let written = written.and_then(|()| match self.n_undescribed {
            0 => Ok(()),
            _ => self.describe(),
        });
        // What the valid description names stays.
        if let Some(version) = self.version.take() {
            self.base = version.place.end;
            self.groups.push(version.group);
        }
        // All that could be written can be read: without room for a shorter form the file stays longer.
        let _ = self.compact();
        written.and(self.out.flush())
    }
}
