//! A formula without a model: what its propositions say stays text.

use crate::ast::{Expr, ExprKind, Ltl, Unit};
use crate::lower::temporal;
use crate::parser::parse;
use crate::preprocess::Options;
use spinor_ltl::{Formula, PropId};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{FileId, Sources, Span};
use std::io;
use std::path::Path;

/// A formula alone, as the block that the parser reads; its name may be empty.
pub fn block(name: &str, formula: &str) -> String {
    format!("ltl {name} {{ {formula}{AFTER}")
}

const AFTER: &str = "\n}";

/// What is wrong with such blocks, as if what was typed were all of the text: of these files, what each is.
pub fn as_typed(sources: &Sources, diagnostics: &mut [Diagnostic], typed: &[(FileId, &str)]) -> Sources {
    let mut out = Sources::default();
    for (id, file) in sources.files.enumerated() {
        let text = typed.iter().find(|(of, _)| *of == id).map_or(&*file.text, |(_, text)| text);
        out.add_file(&file.name, text);
    }
    let shift = |span: &mut Span| {
        if let Some((of, text)) = typed.iter().find(|(of, _)| *of == span.file) {
            let before = sources.files[*of].text.len() - text.len() - AFTER.len();
            let inside = |at: u32| at.saturating_sub(before as u32).min(text.len() as u32);
            (span.lo, span.hi) = (inside(span.lo), inside(span.hi));
        }
    };
    out.expansions = sources.expansions.clone();
    out.expansions.iter_mut().for_each(|expansion| shift(&mut expansion.call));
    for d in diagnostics {
        d.primary.iter_mut().for_each(|(span, _)| shift(span));
        d.labels.iter_mut().for_each(|(span, _)| shift(span));
        d.fix.iter_mut().for_each(|fix| shift(&mut fix.span));
    }
    out
}

/// What came of a text: a formula unless there are errors, and everything there is to say about it.
#[derive(Clone, Debug)]
pub struct Free {
    pub formula: Option<Formula>,
    /// What each proposition says, by its number.
    pub props: Vec<String>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a formula as it would stand in an `ltl` block. Every boolean expression that is not made of others is a
/// proposition; the same text is the same one.
pub fn free(text: &str) -> Free {
    let nothing = |_: &Path| Err(io::Error::other("a formula includes no files"));
    let parsed = parse("formula", &block("", text), &Options::default(), &nothing);
    let (sources, mut diagnostics) = (parsed.sources, parsed.diagnostics);
    let mut props: Vec<String> = Vec::new();
    let formula = match &parsed.program.units[..] {
        [Unit::Ltl(Ltl { name: None, formula, .. })] => temporal(formula, false, &mut |e| {
            if let ExprKind::Num(n) = e.kind {
                return if n == 0 { Formula::False } else { Formula::True };
            }
            if let Some(inside) = find_temporal(e) {
                diagnostics.push(
                    Diagnostic::error("P0336", "a temporal operator inside an expression")
                        .at(inside.span, "this has no value that could be calculated with")
                        .help("put the expression in parentheses, like `[] (x < 3)`"),
                );
            }
            let text = sources.one_line(e.span);
            let n = props.iter().position(|p| *p == text).unwrap_or_else(|| {
                props.push(text);
                props.len() - 1
            });
            Formula::Prop(PropId(n as u32))
        }),
        units => {
            if !diagnostics.iter().any(Diagnostic::is_error) {
                let said = if units.is_empty() { "there is no formula" } else { "this is more than one formula" };
                diagnostics.push(Diagnostic::error("P0336", said).help("write one, like `[] (p -> <> q)`"));
            }
            Formula::True
        }
    };
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let sources = as_typed(&sources, &mut diagnostics, &[(FileId(0), text)]);
    Free { formula: (!failed).then_some(formula), props, sources, diagnostics }
}

fn find_temporal(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Temporal(..) => Some(e),
        ExprKind::Paren(a) | ExprKind::Unary(_, a) => find_temporal(a),
        ExprKind::Binary(_, a, b) => find_temporal(a).or_else(|| find_temporal(b)),
        ExprKind::Cond(a, b, c) => find_temporal(a).or_else(|| find_temporal(b)).or_else(|| find_temporal(c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propositions_are_texts() {
        let read = free("[] (p && x<3 -> <> !p) || true U q@L");
        assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
        assert_eq!(read.props, ["p", "x<3", "q@L"]);
        let formula = read.formula.expect("a formula").to_string();
        assert_eq!(formula, "[] ((p0 && p1) -> <> !p0) || (true U p2)");
    }

    #[test]
    fn what_is_no_formula_is_said_to_be_none() {
        for text in
            ["", "[] ", "p q", "p } ltl { q", "p } active proctype P() { skip", "([] x) + 1", "<> (", "p ->", "}"]
        {
            let read = free(text);
            assert!(read.formula.is_none() && read.diagnostics.iter().any(Diagnostic::is_error), "{text}");
        }
    }
}
