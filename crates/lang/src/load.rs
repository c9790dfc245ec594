//! From text to a checked model in one call.

use crate::lower::{Model, lower};
use crate::parser::parse;
use crate::preprocess::{Loader, Options};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Sources;
use std::sync::Arc;

/// What came of a text: a model unless there are errors, and everything there is to say about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub model: Option<Model>,
    pub sources: Arc<Sources>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a model. `name` is how the user calls its file, and its ending decides how it is read; includes go
/// through `loader`.
pub fn load(name: &str, text: &str, options: &Options, loader: Loader<'_>) -> Loaded {
    if name.ends_with(crate::cfsm::EXTENSION) {
        return crate::cfsm::load(name, text, options);
    }
    let parsed = parse(name, text, options, loader);
    let sources = Arc::new(parsed.sources);
    let mut diagnostics = parsed.diagnostics;
    if diagnostics.iter().any(Diagnostic::is_error) {
        // The checker would only repeat, in other words, what the parser could not read.
        return Loaded { model: None, sources, diagnostics };
    }
    let (model, more) = lower(name, &parsed.program, sources.clone());
    diagnostics.extend(more);
    Loaded { model, sources, diagnostics }
}
