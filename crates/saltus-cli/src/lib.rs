//! The `saltus` program: arguments in, files and exit codes out. Everything that is not arguments, files or text for
//! people is done by the facade crate, behind [`engine`]. It is a library so that the Python package has it, too (`python -m saltus`).

mod args;
mod bug;
mod commands;
mod consent;
mod deadline;
mod engine;
mod exit;
mod files;
mod fmu_run;
mod fmu_runtime;
mod given;
mod installed;
mod interrupt;
mod library;
mod memory;
mod outputs;
mod picture;
mod progress;

use std::ffi::OsString;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::deadline::Deadline;
use crate::exit::Exit;

/// Deeply nested models are worked on recursively; the depth is bounded, and this is room for the bound.
const STACK_BYTES: usize = 512 << 20;

pub use crate::fmu_runtime::fmu_runtime;
pub use crate::memory::Allocator;

/// Does what the arguments say, the first of which is the name of the program; gives the exit code. The process is not used for anything else: its memory and what it may write
/// are limited, and its signals handled.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    memory::limit();
    bug::install_hook();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() {
                Exit::CommandLine
            } else {
                Exit::Done
            };
            // A closed standard output is no reason for another message.
            let _ = error.print();
            return exit as u8;
        }
    };
    exit::set_colours(cli.color);
    if let Some(limits) = cli.command.limits() {
        memory::limit_to(limits.max_memory);
    }
    // Before there is any other thread; the folder for intermediate files is removed at the end.
    let confinement = match consent::confine_command(&cli.command) {
        Ok(confinement) => confinement,
        Err(failure) => {
            exit::message(failure.text.trim_end());
            return failure.exit as u8;
        }
    };
    let worker = std::thread::Builder::new()
        .name("saltus".into())
        .stack_size(STACK_BYTES)
        .spawn(move || run(cli));
    let exit = match worker {
        Ok(handle) => handle.join().unwrap_or(Exit::Bug),
        Err(error) => {
            exit::message(&format!("error: no thread could be started: {error}"));
            Exit::Incomplete
        }
    };
    drop(confinement);
    exit as u8
}

fn run(cli: Cli) -> Exit {
    // Ends the program if the command does not come to an end.
    let _deadline = (cli.command.limits()).map(|limits| Deadline::new(limits.max_wall));
    let outcome = match cli.command {
        Command::Check(args) => commands::check(args),
        Command::Compile(args) => commands::compile(&args),
        Command::Simulate(args) => commands::simulate(*args),
        Command::Parameters(args) => commands::parameters(&args),
        Command::Variables(args) => commands::variables(&args),
        Command::Linearize(args) => commands::linearize(&args),
        Command::SteadyState(args) => commands::steady_state(&args),
        Command::Profile(args) => commands::profile(&args),
        Command::Show(args) => commands::show(args),
        Command::Plot(args) => commands::plot(args),
        Command::Compare(args) => commands::compare(args),
        Command::Recover(args) => commands::recover(&args),
        Command::Test(args) => commands::test(*args),
        Command::Sweep(args) => commands::sweep(*args),
        Command::Study(args) => commands::study(&args),
        Command::Format(args) => commands::format(&args),
        Command::Convert(args) => commands::convert(&args),
        Command::Export(args) => commands::export(&args),
        Command::Fmu(args) => commands::fmu(&args),
        Command::Lib(args) => commands::lib(args),
        Command::Lsp(args) => commands::lsp(args),
        Command::Explain(args) => commands::explain(args),
        Command::Studio(args) => commands::studio(&args),
        Command::New(args) => commands::new(&args),
        Command::Completions(args) => commands::completions(&args),
        Command::Man => commands::man(),
    };
    match outcome {
        Ok(exit) => exit,
        Err(failure) => {
            exit::message(failure.text.trim_end());
            failure.exit
        }
    }
}
