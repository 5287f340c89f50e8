//! A compiled model as bytes.
//!
//! Comes in: a model with its settings. Goes out: all that its runs need (code, names, what further modes are made from), outlines of the source files with the lines that
//! messages quote, and, if it is to be carried, the source. Read on another machine, it gives the same results bit by bit.

use super::{Base, Model, Origin, Settings};
use crate::carried::Source;
use crate::error::{Diagnostics, Error};
use crate::file::{self, Kind};
use crate::session::{Session, StageTimes, Surroundings};
use saltus_codegen::{CompiledModel, Content, Execution};
use saltus_model::Model as _;
use saltus_syntax::source::Outlines;
use saltus_syntax::{Diagnostic, FileId, SourceMap};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// `C` is the compiled model, or what is read of it.
#[derive(Serialize, Deserialize)]
struct Stored<C> {
    class: String,
    outlines: Outlines,
    warnings: Vec<Diagnostic>,
    blocks: saltus_results::Blocks,
    computed: Vec<String>,
    around: Surroundings,
    settings: Settings,
    compiled: C,
    source: Option<Vec<u8>>,
}

impl Model {
    /// The compiled model with its settings as bytes, with a version and a checksum. They can be written to a file and run on another machine, where the
    /// results are the same bit by bit. The source is part of them, so that values which the structure depends on can be changed there too;
    /// [`Model::without_source`] leaves it out. Files that the model reads while it runs are not part of them.
    ///
    /// Bytes are read by the build of Saltus that has written them; another build asks for the model to be compiled again.
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("Tank.mo", "
    ///   model Tank
    ///     parameter Integer n = 1;
    ///     Real h[n](each start = 1, each fixed = true);
    ///   equation
    ///     der(h) = -h;
    ///   end Tank;");
    /// let bytes = session.compile("Tank")?.to_bytes();
    ///
    /// let model = saltus::Model::from_bytes(&bytes)?;
    /// assert!((model.experiment().simulate()?.last("h[1]")? - (-1.0f64).exp()).abs() < 1e-5);
    /// assert_eq!(model.with([("n", 3.into())])?.info().n_equations, 3);
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let base = self.base();
        let origin = self.inside.origin.as_ref();
        let stored = Stored {
            class: origin.map_or_else(|| self.name().to_owned(), |origin| origin.class.clone()),
            outlines: base.sources.outlines(quoted_lines(base)),
            warnings: base.warnings.list.clone(),
            blocks: base.blocks,
            computed: base.computed.clone(),
            around: base.around.clone(),
            settings: self.inside.settings.clone(),
            compiled: &base.compiled,
            source: origin.map(|origin| origin.source.pack(&base.sources)),
        };
        file::write(Kind::Model, &stored)
    }

    /// The model that [`Model::to_bytes`] has written, on the files of this computer, without permissions for its functions beyond the usual.
    /// [`Session::read_model`] gives it others.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, Error> {
        Model::read(&Session::new(), bytes)
    }

    pub(crate) fn read(session: &Session, bytes: &[u8]) -> Result<Model, Error> {
        let stored: Stored<Content> = file::read(Kind::Model, bytes)?;
        let Stored {
            mut around,
            settings,
            ..
        } = stored;
        let own = session.library_paths().iter();
        around.libraries.splice(0..0, own.cloned());
        let sources = Arc::new(SourceMap::from_outlines(stored.outlines));
        let compiled = CompiledModel::from_content(stored.compiled, &sources)
            .map_err(|why| file::refused(Kind::Model, &why))?;
        let base = Arc::new(Base {
            compiled: compiled.with_host(session.run_host(&around)),
            warnings: Diagnostics {
                list: stored.warnings,
                sources: sources.clone(),
            },
            sources,
            times: StageTimes::default(),
            blocks: stored.blocks,
            computed: stored.computed,
            around,
            names: OnceLock::new(),
            fingerprint: OnceLock::new(),
        });
        let origin = stored.source.map(|source| {
            let first = settings.compiled.is_empty().then(|| base.clone());
            let source = Source::carried(source, session.clone());
            Origin::new(source, &stored.class, first)
        });
        Ok(Model::assemble(
            base,
            origin,
            settings,
            Execution::default(),
        ))
    }

    /// The model without the source that it was compiled from: [`Model::to_bytes`] does not give it away, and values that the structure depends on can no
    /// longer be changed.
    pub fn without_source(&self) -> Model {
        let inside = &*self.inside;
        let execution = inside.compiled.execution();
        Model::assemble(
            inside.base.clone(),
            None,
            inside.settings.clone(),
            execution,
        )
    }
}

/// Lines that messages of a run may quote.
fn quoted_lines(base: &Base) -> Vec<(FileId, u32)> {
    let sources = &base.sources;
    let mut lines = Vec::new();
    let mut last: Option<(Arc<str>, Option<FileId>)> = None;
    for site in &base.compiled.info().sites {
        let file = match &last {
            Some((name, file)) if *name == site.file => *file,
            _ => sources.find(&site.file),
        };
        last = Some((site.file.clone(), file));
        lines.extend(file.map(|file| (file, site.line)));
    }
    for warning in &base.warnings.list {
        for label in warning.primary.iter().chain(&warning.secondary) {
            let at = sources.line_col(label.span.file, label.span.start);
            lines.push((label.span.file, at.line));
        }
    }
    lines
}
