//! From a file name to a model: the only place that knows how the front end is called.

use crate::options::Options;
use crate::sha256;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::ir::System;
use spinor_model::print;
use spinor_model::source::{Sources, Span};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model text, read; understood if `model` is there.
pub struct Front {
    /// As the user wrote it.
    pub path: String,
    /// Of the model's own text, not of what it includes.
    pub sha256: String,
    pub model: Option<Model>,
    pub sources: Arc<Sources>,
    pub diagnostics: Vec<Diagnostic>,
}

pub struct Model {
    pub system: Arc<System>,
    pub formulas: Vec<Formula>,
}

pub struct Formula {
    pub name: String,
    pub text: String,
    pub span: Span,
    pub formula: spinor_ltl::Formula,
    /// What each proposition says, as it was written.
    pub says: Vec<String>,
}

/// Why a file could not be used.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.path.display(), self.why)
    }
}

/// A model is written by hand; what is larger than this is not one.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a text file, or says plainly why not.
pub fn read_text(path: &Path) -> Result<String, Unreadable> {
    let fail = |why: String| Unreadable { path: path.to_path_buf(), why };
    if path == Path::new("-") {
        return Err(fail("standard input is `/dev/stdin` here".to_string()));
    }
    let meta = std::fs::metadata(path).map_err(|e| fail(reason(&e)))?;
    if meta.is_dir() {
        return Err(fail("it is a folder, not a file".to_string()));
    }
    if meta.len() > MAX_BYTES {
        return Err(fail(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|e| fail(reason(&e)))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        fail(format!("line {line} is not UTF-8 text (byte {at})"))
    })
}

fn reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => e.to_string(),
    }
}

pub fn load(path: &Path, options: &Options) -> Result<Front, Unreadable> {
    let text = read_text(path)?;
    let name = path.to_string_lossy().into_owned();
    let lang_options = spinor_lang::Options {
        defines: options.defines.clone(),
        undefines: options.undefines.clone(),
        include_roots: options.include_roots.clone(),
    };
    let loaded = spinor_lang::load(&name, &text, &lang_options, &|path: &Path| std::fs::read(path));
    let model = loaded
        .model
        .map(|m| Model { formulas: m.formulas.into_iter().map(|f| of_lang(&m.system, f)).collect(), system: m.system });
    Ok(Front {
        path: name,
        sha256: sha256::hex(text.as_bytes()),
        model,
        sources: loaded.sources,
        diagnostics: loaded.diagnostics,
    })
}

fn of_lang(system: &System, f: spinor_lang::NamedFormula) -> Formula {
    // Two uses of one macro look alike and need not mean the same: those are told apart by what they came to.
    let twice = |n: usize| f.says.iter().filter(|text| **text == f.says[n]).count() > 1;
    let printed = |n: usize| print::expr(system, &system.globals, &f.props[n]).replace('@', "");
    let text = |n: usize| if twice(n) { printed(n) } else { f.says[n].clone() };
    let says = (0..f.says.len()).map(text).collect();
    Formula { name: f.name, text: f.text, span: f.span, formula: f.formula, says }
}

/// The long text of a code.
pub fn explain(code: &str) -> Option<String> {
    let row = spinor_lang::codes::CODES.iter().find(|row| row.code.eq_ignore_ascii_case(code))?;
    let mut out = format!("{}: {}\n\n{}\n", row.code, row.title, row.text.trim());
    if !row.example.trim().is_empty() {
        out.push_str("\nFor example\n\n");
        for line in row.example.trim_end().lines() {
            out.push_str(format!("    {line}").trim_end());
            out.push('\n');
        }
    }
    Some(out)
}

pub fn codes() -> impl Iterator<Item = &'static str> {
    spinor_lang::codes::CODES.iter().map(|row| row.code)
}
