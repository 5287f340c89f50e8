//! Automation of the repository: `cargo xtask <task>`.

mod bits;
mod compliance;
mod fuzz;
mod gallery;
mod msl;
mod work_precision;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", about = "Automation of the Saltus repository")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// How far Saltus gets with each reference model of the Modelica Standard Library
    Msl(msl::Options),
    /// Agreement with the cases of the ModelicaCompliance library
    Compliance(compliance::Options),
    /// Writes the gallery: models with picture, numbers, text and command
    Gallery(gallery::Options),
    /// Whether interpreter and machine code give the same results
    Bits(bits::Options),
    /// Random programs, texts and damaged files until the time is over
    Fuzz(fuzz::Options),
    /// Work against precision of the integrators on problems with known end values
    WorkPrecision(work_precision::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Msl(options) => msl::run(&options),
        Task::Compliance(options) => compliance::run(&options),
        Task::Gallery(options) => gallery::run(&options),
        Task::Bits(options) => bits::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::WorkPrecision(options) => work_precision::run_all(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("error: {what}");
            ExitCode::FAILURE
        }
    }
}
