use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Exit, Failure, Outcome, print};

const PROGRAM: &str = "saltus";

/// `saltus completions`
pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), PROGRAM, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// `saltus man`: a page for the program and its verbs, for `man -l -`.
pub(crate) fn man() -> Outcome {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let written = clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .and_then(|()| {
            for verb in command
                .get_subcommands()
                .filter(|verb| verb.get_name() != "help")
            {
                let man = clap_mangen::Man::new(verb.clone());
                man.render_name_section(&mut page)?;
                man.render_synopsis_section(&mut page)?;
                man.render_description_section(&mut page)?;
                man.render_options_section(&mut page)?;
            }
            Ok(())
        });
    written.map_err(|e| Failure::command_line(format!("the page cannot be made: {e}")))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}
