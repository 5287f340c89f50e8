use saltus::Session;

use crate::args::LspArgs;
use crate::exit::{Exit, Failure, Outcome};

/// `saltus lsp`
pub(crate) fn lsp(args: LspArgs) -> Outcome {
    let mut session = Session::new();
    for library in args.libraries {
        session.add_library_path(library);
    }
    session.add_modelicapath();
    for folder in crate::installed::folders() {
        session.add_library_path(folder);
    }
    saltus_lsp::serve_stdio(session).map_err(|e| Failure {
        exit: Exit::Incomplete,
        text: format!("error: the language server ended: {e}"),
    })?;
    Ok(Exit::Done)
}
