//! The program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: saltus_cli::Allocator = saltus_cli::Allocator;

fn main() -> ExitCode {
    saltus_cli::main(std::env::args_os()).into()
}
