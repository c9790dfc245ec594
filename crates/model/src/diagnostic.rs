//! What we tell the user about a model or a command: collected, never thrown.

use crate::source::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// A replacement of `span` by `text`, ready to apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    pub span: Span,
    pub text: String,
}

/// The message says what is so, the help says what to do, the labels say where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// `P0102`: the letter names the room (P Promela, C CFSM, L LTL, V plan and verdict, R resources).
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// The exact place, with a short text under it (may be empty).
    pub primary: Option<(Span, String)>,
    /// Related places: "declared here", "opened here".
    pub labels: Vec<(Span, String)>,
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// How SPIN 6.5.2 treats the same text, where that differs; verified by running it.
    pub spin: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Diagnostic { code, severity, message, primary: None, labels: Vec::new(), help: None, fix: None, spin: None }
    }

    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.primary = Some((span, label.into()));
        self
    }

    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, text: text.into() });
        self
    }

    pub fn spin(mut self, text: impl Into<String>) -> Self {
        self.spin = Some(text.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
