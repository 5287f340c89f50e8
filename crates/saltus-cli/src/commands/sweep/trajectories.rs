//! Curves of all runs: a file with a column for the number of the run, or a file for each run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use saltus::Run;
use saltus_results::{ParquetColumn, write_csv, write_parquet_columns};

use crate::exit::Failure;
use crate::files;

pub(super) struct Trajectories {
    path: PathBuf,
    names: Vec<String>,
    is_file: bool,
    kept: Mutex<Kept>,
}

/// The curves of a run: time, then each variable.
type Curves = Vec<Vec<f64>>;

#[derive(Default)]
struct Kept {
    /// By number, so that the order does not depend on the threads.
    runs: BTreeMap<usize, Curves>,
    failure: Option<Failure>,
}

impl Trajectories {
    pub(super) fn new(path: &Path, names: Vec<String>) -> Result<Trajectories, Failure> {
        let is_file = path.extension().is_some_and(|e| e == "parquet");
        if is_file {
            files::check_writable(path)?;
        } else {
            fs::create_dir_all(path).map_err(|e| {
                Failure::command_line(format!(
                    "--trajectories `{}`: the folder cannot be made: {e}",
                    path.display()
                ))
            })?;
        }
        Ok(Trajectories {
            path: path.to_owned(),
            names,
            is_file,
            kept: Mutex::default(),
        })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Keeps or writes a run; false if that has failed.
    pub(super) fn add(&self, run: usize, done: &Run) -> bool {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_file {
            let table = &done.table;
            let mut curves = vec![table.time().to_vec()];
            let values = |name: &String| table.signal(name).map_or(Vec::new(), |s| s.to_vec());
            curves.extend(self.names.iter().map(values));
            lock().runs.insert(run, curves);
            return true;
        }
        let path = self.path.join(format!("run_{}.csv", run + 1));
        match files::write_file(&path, |out| write_csv(&done.table, out)) {
            Ok(()) => true,
            Err(failure) => {
                lock().failure.get_or_insert(failure);
                false
            }
        }
    }

    /// Writes the file of all runs.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let kept = self
            .kept
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = kept.failure {
            return Err(failure);
        }
        if !self.is_file {
            return Ok(());
        }
        let numbers = |run: &usize, curves: &Curves| vec![*run as f64 + 1.0; curves[0].len()];
        let runs = kept
            .runs
            .iter()
            .flat_map(|(run, curves)| numbers(run, curves))
            .collect();
        let mut columns = vec![("run".to_owned(), ParquetColumn::Numbers(runs))];
        let names = std::iter::once("time".to_owned()).chain(self.names);
        for (k, name) in names.enumerate() {
            let values = kept
                .runs
                .values()
                .flat_map(|curves| curves[k].iter().copied());
            columns.push((name, ParquetColumn::Numbers(values.collect())));
        }
        files::write_file(&self.path, |mut out| {
            write_parquet_columns(&columns, &mut out)
        })
    }
}
