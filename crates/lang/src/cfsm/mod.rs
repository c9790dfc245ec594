//! Protocols as communicating finite-state machines: `.cfsm` text into the same system that Promela becomes.
//!
//! A protocol is a set of processes, each a finite-state machine, and channels that each lead from one process to another
//! and keep messages in their order. A transition sends (`-m`), receives (`+m`) or is a step of its own (`name`).
//!
//! | file | turns |
//! |---|---|
//! | `token.rs` | text into tokens; it never complains |
//! | `tree.rs` | what a text says |
//! | `parser.rs` | tokens into a tree; it always returns one |
//! | `formula.rs` | `ltl` blocks |
//! | `names.rs` | a tree into machines whose names are resolved |
//! | `lower.rs` | machines into a system: a proctype, a process, a location and an edge each |
//! | `promela.rs` | machines into Promela text with the same states and transitions |
//!
//! What is asked about a protocol besides its formulas (receptions, overflows) is no part of the system; it is handed on as
//! [`Protocol`].

mod formula;
mod lower;
mod names;
mod parser;
mod promela;
mod token;
pub mod tree;

use crate::diags::Diags;
use crate::load::Loaded;
use crate::lower::Model;
use crate::preprocess::Options;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Sources;
use std::sync::Arc;

/// What a text with these names at its end is.
pub const EXTENSION: &str = ".cfsm";

/// Reads and checks a protocol. `options.more` are further texts, which state formulas.
pub fn load(name: &str, text: &str, options: &Options) -> Loaded {
    let mut sources = Sources::default();
    let mut diags = Diags::default();
    let mut tree = tree::Tree::default();
    for (n, (name, text)) in std::iter::once((name, text))
        .chain(options.more.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .enumerate()
    {
        let file = sources.add_file(name, text);
        let tokens = token::tokens(file, text, &mut diags);
        let said = parser::parse(tokens, &mut diags);
        if n == 0 {
            tree = said;
        } else {
            tree.formulas.extend(said.formulas);
        }
    }
    let sources = Arc::new(sources);
    let mut model = None;
    if !diags.has_errors() {
        let machines = names::resolve(&tree, &mut diags);
        if !diags.has_errors() {
            let (system, formulas) = lower::lower(name, &machines, sources.clone());
            let (protocol, promela) = (lower::protocol(&machines), promela::export(&machines));
            let (protocol, promela) = (Some(protocol), Some(promela));
            model = Some(Model { system: Arc::new(system), formulas, protocol, promela });
        }
    }
    let mut diagnostics = diags.list;
    diagnostics.sort_by_key(|d: &Diagnostic| d.primary.as_ref().map(|(span, _)| (span.file, span.lo)));
    Loaded { model, sources, diagnostics }
}
