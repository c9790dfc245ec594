//! The diagnostics of one run: collected in order, without echoes, and not without end.

use spinor_model::diagnostic::{Diagnostic, Severity};

/// After so many errors the rest is more likely to follow from the first ones than to help.
pub const MAX_ERRORS: usize = 20;

#[derive(Default)]
pub struct Diags {
    pub list: Vec<Diagnostic>,
    n_errors: usize,
}

impl Diags {
    pub fn push(&mut self, d: Diagnostic) {
        if self.full() || d.severity == Severity::Warning && self.list.len() >= 10 * MAX_ERRORS {
            return;
        }
        let place = d.primary.as_ref().map(|(span, _)| *span);
        // A macro used a hundred times has one mistake, not a hundred.
        let text_of = |p: Option<spinor_model::source::Span>| p.map(|s| (s.file, s.lo, s.hi));
        let echo = |o: &Diagnostic| o.code == d.code && text_of(o.primary.as_ref().map(|(s, _)| *s)) == text_of(place);
        if place.is_some() && self.list.iter().any(echo) {
            return;
        }
        let error = d.is_error();
        self.list.push(d);
        if error {
            self.n_errors += 1;
            if self.full() {
                self.list.push(
                    Diagnostic::error("P0200", format!("{MAX_ERRORS} errors were found, reading stopped here"))
                        .help("correct the first ones and try again: later errors often follow from earlier ones"),
                );
            }
        }
    }

    /// Nothing more is taken, so nobody needs to go on.
    pub fn full(&self) -> bool {
        self.n_errors >= MAX_ERRORS
    }

    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }
}
