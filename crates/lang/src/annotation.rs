//! What comments say to Spinor, and to no other tool: `/* @symmetric P, Q */`.
//!
//! `@symmetric` declares that processes of a proctype can change places. It is no promise that is believed: a model in which
//! they cannot is refused (`lower`), so who relies on symmetry is told when it is lost.
//!
//! A comment that begins with another word behind `@` is the business of other tools, unless it looks like a slip.

use crate::ast::Ident;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{FileId, Span};

const WORD: &str = "@symmetric";

/// The proctypes that the comment from `lo` to `hi` of a text names.
pub fn symmetric(text: &str, file: FileId, lo: usize, hi: usize) -> Result<Vec<Ident>, Box<Diagnostic>> {
    // Both kinds of comment begin with two signs.
    let body = text[lo..hi].strip_suffix("*/").filter(|t| t.starts_with("/*")).unwrap_or(&text[lo..hi]);
    let at = lo + 2 + (body[2..].len() - body[2..].trim_start().len());
    let body = &text[at..lo + body.len()];
    let word = body.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
    let span = |from: usize, len: usize| file.span(at + from, at + from + len);
    if word != WORD {
        return if looks_like_it(word) { Err(Box::new(slip(span(0, word.len())))) } else { Ok(Vec::new()) };
    }
    let mut names = Vec::new();
    let mut from = WORD.len();
    for part in body[WORD.len()..].split_inclusive(|c: char| c.is_whitespace() || c == ',') {
        let name = part.trim_end_matches(|c: char| c.is_whitespace() || c == ',');
        if !name.is_empty() {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.chars().all(is_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(Box::new(unreadable(span(from, name.len()))));
            }
            names.push(Ident { name: name.into(), span: span(from, name.len()) });
        }
        from += part.len();
    }
    if names.is_empty() { Err(Box::new(unreadable(span(0, WORD.len())))) } else { Ok(names) }
}

fn looks_like_it(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower.starts_with("@symm") || lower.starts_with("@scalarset")
}

fn slip(span: Span) -> Diagnostic {
    Diagnostic::warning("P0047", "this comment looks like an annotation, and is none")
        .at(span, "not known")
        .help("processes that can change places are declared by `@symmetric`")
        .fix(span, WORD)
}

fn unreadable(span: Span) -> Diagnostic {
    Diagnostic::error("P0046", "an annotation that cannot be read")
        .at(span, "names of proctypes, with commas between them, follow `@symmetric` up to the end of the comment")
        .help("write `/* @symmetric P */`, and what else there is to say in another comment")
}
