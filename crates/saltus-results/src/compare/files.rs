//! Comparison of files that need not fit into memory.
//!
//! The first pass over both files finds what the tubes depend on: how long the reference is, how far its rows are apart, and the range of each signal. The second goes through both
//! files side by side, in slices of time. A slice has the rows that belong to it and those within two time bands of it, so that everything that is measured in it is what it
//! would be with all rows in memory.

use std::io::{Read, Seek};
use std::ops::ControlFlow;

use super::{
    Comparison, Coverage, Curve, Extremes, Facts, Grids, SignalVerdict, Sums, Tube, TubeOptions,
    compare, finished, median, missing, nothing, time_tolerance,
};
use crate::reader::Rows;
use crate::{ReadError, ResultReader, ResultTable, SeriesId, Source};

/// Compares the named signals of two files, or all of the reference, with about so much memory (in bytes).
pub fn compare_files<R: Read + Seek, S: Read + Seek>(
    result: &mut ResultReader<R>,
    reference: &mut ResultReader<S>,
    names: Option<&[String]>,
    options: &TubeOptions,
    memory: usize,
) -> Result<Comparison, ReadError> {
    let all: Vec<String> = (reference.outline().variables())
        .map(|(name, _)| name.to_owned())
        .collect();
    let names = names.unwrap_or(&all);
    let small = memory / 2;
    if let (Some(result), Some(reference)) = (
        result.read_if_small(names, small)?,
        reference.read_if_small(names, small)?,
    ) {
        let mut comparison = compare(&result, &reference, names, options);
        comparison.coverage.reference_signals = all.len();
        return Ok(comparison);
    }
    in_slices(result, reference, names, options, memory)
}

fn in_slices<R: Read + Seek, S: Read + Seek>(
    result: &mut ResultReader<R>,
    reference: &mut ResultReader<S>,
    names: &[String],
    options: &TubeOptions,
    memory: usize,
) -> Result<Comparison, ReadError> {
    let n_signals = reference.outline().variables().len();
    let (y_table, y_wanted) = result.outline().outline_of(names);
    let (r_table, r_wanted) = reference.outline().outline_of(names);
    let (y_times, _) = survey(result, &[])?;
    let (r_times, extremes) = survey(reference, &r_wanted)?;
    let Some(reference_ends) = r_times.ends else {
        return Ok(nothing(n_signals));
    };
    let facts = Facts {
        coverage: Coverage::new(reference_ends, y_times.ends, n_signals),
        result: y_times.ends,
        dt: time_tolerance(
            reference_ends.1 - reference_ends.0,
            y_times.spacing(),
            r_times.spacing(),
            options,
        ),
    };
    let mut signals: Vec<Signal> = (names.iter())
        .map(|name| Signal::new(name, &y_table, &r_table, &extremes, options))
        .collect();
    // A row of a slice has its values, and about three pieces on which they are measured.
    let row_bytes = size_of::<f64>() * (y_wanted.len() + r_wanted.len() + 2) + PIECES_BYTES;
    let n_rows = (memory / row_bytes / SLICES_HELD).max(ROWS_MIN);
    let mut y = Side::new(result.rows(&y_wanted)?, y_wanted.len());
    let mut r = Side::new(reference.rows(&r_wanted)?, r_wanted.len());
    y.fill(n_rows)?;
    r.fill(n_rows)?;
    let mut from = f64::NEG_INFINITY;
    loop {
        let to = y.until(facts.dt).min(r.until(facts.dt));
        if to > from {
            let grids = Grids::new(&y.time, &r.time, &facts, (from, to));
            for signal in &mut signals {
                signal.add(&y, &r, &grids);
            }
            from = to;
            y.drop_before(from - BANDS * facts.dt);
            r.drop_before(from - BANDS * facts.dt);
        }
        match (y.until(facts.dt) <= r.until(facts.dt), y.ended, r.ended) {
            (_, true, true) => break,
            (true, false, _) | (false, false, true) => y.fill(n_rows)?,
            _ => r.fill(n_rows)?,
        }
    }
    let signals = signals.into_iter().map(|s| s.finish(&facts, options));
    Ok(finished(&facts, signals.collect()))
}

/// Bytes of grids for a row.
const PIECES_BYTES: usize = 400;
/// Slices that are in memory at the same time: two of each file.
const SLICES_HELD: usize = 4;
/// A slice has at least so many rows.
const ROWS_MIN: usize = 1000;
/// Rows within so many time bands of a slice take part in it.
const BANDS: f64 = 2.0;

/// What the first pass finds.
#[derive(Default)]
struct Times {
    ends: Option<(f64, f64)>,
    /// Distances of rows: all of them if they are few, then how many there are of each size.
    steps: Vec<f64>,
    histogram: Vec<u64>,
}

/// So many distances are kept.
const STEPS_MAX: usize = 1 << 22;
/// Of others only sign, exponent and the first eight bits count: the median is exact to 0.4 %.
const HISTOGRAM_SHIFT: u32 = 44;

impl Times {
    fn add(&mut self, time: f64) {
        let (first, last) = self.ends.unwrap_or((time, time));
        self.ends = Some((first, time));
        if time <= last {
            return;
        }
        if self.histogram.is_empty() {
            self.steps.push(time - last);
            if self.steps.len() < STEPS_MAX {
                return;
            }
            self.histogram = vec![0; 1 << (u64::BITS - HISTOGRAM_SHIFT)];
            for step in std::mem::take(&mut self.steps) {
                self.histogram[(step.to_bits() >> HISTOGRAM_SHIFT) as usize] += 1;
            }
        } else {
            self.histogram[((time - last).to_bits() >> HISTOGRAM_SHIFT) as usize] += 1;
        }
    }

    fn spacing(&self) -> f64 {
        if self.histogram.is_empty() {
            return median(&mut self.steps.clone());
        }
        let n: u64 = self.histogram.iter().sum();
        let mut before = 0;
        let bin = self.histogram.iter().position(|count| {
            before += count;
            before > n / 2
        });
        bin.map_or(0.0, |bin| f64::from_bits((bin as u64) << HISTOGRAM_SHIFT))
    }
}

fn survey<R: Read + Seek>(
    file: &mut ResultReader<R>,
    wanted: &[SeriesId],
) -> Result<(Times, Vec<Extremes>), ReadError> {
    let mut times = Times::default();
    let mut extremes = vec![Extremes::default(); wanted.len()];
    file.scan(wanted, |time, values| {
        times.add(time);
        for (extremes, value) in extremes.iter_mut().zip(values) {
            extremes.add(*value);
        }
        ControlFlow::Continue(())
    })?;
    Ok((times, extremes))
}

/// One of the two files: the rows that are in memory.
struct Side<'r, R: Read + Seek> {
    rows: Rows<'r, R>,
    time: Vec<f64>,
    series: Vec<Vec<f64>>,
    ended: bool,
}

impl<'r, R: Read + Seek> Side<'r, R> {
    fn new(rows: Rows<'r, R>, n_series: usize) -> Self {
        Side {
            rows,
            time: Vec::new(),
            series: vec![Vec::new(); n_series],
            ended: false,
        }
    }

    /// Reads further rows.
    fn fill(&mut self, n: usize) -> Result<(), ReadError> {
        for _ in 0..n {
            match self.rows.next()? {
                None => {
                    self.ended = true;
                    break;
                }
                Some((time, values)) => {
                    self.time.push(time);
                    for (series, value) in self.series.iter_mut().zip(values) {
                        series.push(*value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Up to this time all rows are there that a slice needs.
    fn until(&self, dt: f64) -> f64 {
        match self.time.last() {
            _ if self.ended => f64::INFINITY,
            Some(last) => last - BANDS * dt,
            None => f64::NEG_INFINITY,
        }
    }

    /// Forgets rows, but for the last one before that time.
    fn drop_before(&mut self, time: f64) {
        let n = self.time.partition_point(|t| *t < time).saturating_sub(1);
        self.time.drain(..n);
        for series in &mut self.series {
            series.drain(..n);
        }
    }

    fn curve(&self, source: Source) -> Curve<'_> {
        let y = match source {
            Source::Constant(value) => vec![value; self.time.len()],
            Source::Series { id, negated } => {
                let values = self.series[id.index()].iter();
                values.map(|v| if negated { -v } else { *v }).collect()
            }
        };
        Curve { t: &self.time, y }
    }
}

/// A signal that is being compared.
struct Signal {
    name: String,
    state: State,
}

enum State {
    Missing(SignalVerdict),
    Compared {
        result: Source,
        reference: Source,
        sums: Box<Sums>,
    },
}

impl Signal {
    fn new(
        name: &str,
        result: &ResultTable,
        reference: &ResultTable,
        extremes: &[Extremes],
        options: &TubeOptions,
    ) -> Signal {
        let source = |table: &ResultTable| table.find(name).map(|(_, v)| v.source);
        let state = match (source(result), source(reference)) {
            (None, _) => State::Missing(SignalVerdict::MissingInResult),
            (_, None) => State::Missing(SignalVerdict::MissingInReference),
            (Some(result), Some(reference)) => {
                let mut of_constant = Extremes::default();
                let extremes = match reference {
                    Source::Series { id, .. } => extremes[id.index()],
                    Source::Constant(value) => {
                        of_constant.add(value);
                        of_constant
                    }
                };
                State::Compared {
                    result,
                    reference,
                    sums: Box::new(Sums::new(Tube::new(&extremes, options))),
                }
            }
        };
        Signal {
            name: name.to_owned(),
            state,
        }
    }

    fn add<R: Read + Seek, S: Read + Seek>(
        &mut self,
        result_file: &Side<'_, R>,
        reference_file: &Side<'_, S>,
        grids: &Grids,
    ) {
        if let State::Compared {
            result,
            reference,
            sums,
        } = &mut self.state
        {
            let y = result_file.curve(*result);
            let r = reference_file.curve(*reference);
            sums.add(&y, &r, grids);
        }
    }

    fn finish(self, facts: &Facts, options: &TubeOptions) -> super::SignalComparison {
        match self.state {
            State::Missing(verdict) => missing(&self.name, verdict),
            State::Compared { sums, .. } => sums.finish(&self.name, facts, options),
        }
    }
}
