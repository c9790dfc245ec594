//! Where a piece of text came from, through includes, macros and inlines.
//!
//! A [`Span`] names the characters that were read. If they were read because a macro or an inline was
//! expanded, `via` names that expansion, whose own span names the call, and so on outwards. Nothing is
//! lost: diagnostics show the whole chain, traces show the line the author thinks of as the statement.

use crate::index::{Idx, IndexVec};

crate::index_types! {
    /// A text that was read.
    FileId "file",
    /// One use of a macro or an inline.
    ExpansionId "exp",
}

/// A stretch of text, `lo..hi` in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub lo: u32,
    pub hi: u32,
    pub via: Option<ExpansionId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpansionKind {
    /// The text stands in a `#define`; SPIN, too, reports the line of the call.
    Macro,
    /// The text stands in an `inline`; SPIN, too, reports the line in the body.
    Inline,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expansion {
    pub kind: ExpansionKind,
    pub name: String,
    /// The name at the place of the call.
    pub call: Span,
    /// Of one statement among several that one call came to: what it says. It has no name, and no place but the call's.
    pub says: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// As the user named it: relative to the model, or `<command line>`.
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

/// Every text read for one model, and every expansion made in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    pub files: IndexVec<FileId, SourceFile>,
    pub expansions: IndexVec<ExpansionId, Expansion>,
}

/// A place for people: lines and columns from 1, columns counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

impl Sources {
    pub fn add_file(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        let line_starts = line_starts.collect();
        self.files.push(SourceFile { name: name.into(), text, line_starts })
    }

    pub fn add_expansion(&mut self, kind: ExpansionKind, name: impl Into<String>, call: Span) -> ExpansionId {
        self.expansions.push(Expansion { kind, name: name.into(), call, says: None })
    }

    /// The span of a statement that is not written where it seems to stand: one of those that a macro came to, or that a
    /// `for` is made of.
    pub fn add_statement(&mut self, span: Span, call: Span, says: impl Into<String>) -> Span {
        let (kind, name, says) = (ExpansionKind::Macro, String::new(), Some(says.into()));
        Span { via: Some(self.expansions.push(Expansion { kind, name, call, says })), ..span }
    }

    /// The outermost call of the macros this text came through; text inside an inline stays in the inline.
    pub fn surface(&self, mut span: Span) -> Span {
        while let Some(via) = span.via {
            match self.expansions[via].kind {
                ExpansionKind::Macro => span = self.expansions[via].call,
                ExpansionKind::Inline => break,
            }
        }
        span
    }

    /// The calls this text came through, innermost first.
    pub fn chain(&self, span: Span) -> Vec<&Expansion> {
        let mut out = Vec::new();
        let mut via = span.via;
        while let Some(id) = via {
            let expansion = &self.expansions[id];
            if !expansion.name.is_empty() {
                out.push(expansion);
            }
            via = expansion.call.via;
        }
        out
    }

    /// The smallest stretch that holds both, seen from where they meet.
    pub fn join(&self, a: Span, b: Span) -> Span {
        let (a, b) = if a.file == b.file && a.via == b.via { (a, b) } else { (self.surface(a), self.surface(b)) };
        if a.file == b.file && a.via == b.via { Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), ..a } } else { a }
    }

    pub fn text(&self, span: Span) -> &str {
        let text = &self.files[span.file].text;
        text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// The statement as its author wrote it, on one line, without comments: what traces print.
    pub fn one_line(&self, span: Span) -> String {
        if let Some(says) = span.via.and_then(|via| self.expansions[via].says.clone()) {
            return says;
        }
        let mut out = String::new();
        let mut rest = self.text(self.surface(span));
        while let Some(c) = rest.chars().next() {
            if rest.starts_with("/*") {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            if rest.starts_with("//") {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            if c.is_whitespace() || c == '\\' && rest[1..].starts_with('\n') {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            } else {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
        out.truncate(out.trim_end().len());
        out
    }

    pub fn file_name(&self, span: Span) -> &str {
        &self.files[span.file].name
    }

    pub fn start(&self, span: Span) -> LineCol {
        self.line_col(span.file, span.lo)
    }

    pub fn end(&self, span: Span) -> LineCol {
        self.line_col(span.file, span.hi)
    }

    /// The line a step is reported at.
    pub fn line(&self, span: Span) -> u32 {
        self.start(self.surface(span)).line
    }

    /// `7`, or `inc.pml:7` in another file than the model's own; nothing for what has no text.
    pub fn line_in_file(&self, span: Span) -> Option<String> {
        let span = self.surface(span);
        let (file, line) = (self.files.get(span.file)?, self.line(span));
        Some(if span.file.index() == 0 { line.to_string() } else { format!("{}:{line}", file.name) })
    }

    /// The same in a sentence: `line 7`, or `inc.pml:7`.
    pub fn told(&self, span: Span) -> Option<String> {
        let line = self.line_in_file(span)?;
        Some(if line.contains(':') { line } else { format!("line {line}") })
    }

    fn line_col(&self, file: FileId, offset: u32) -> LineCol {
        let file = &self.files[file];
        let line = file.line_starts.partition_point(|&s| s <= offset).max(1);
        let start = file.line_starts[line - 1] as usize;
        let col = file.text.get(start..offset as usize).map_or(0, |t| t.chars().count());
        LineCol { line: line as u32, col: col as u32 + 1 }
    }
}

impl SourceFile {
    pub fn n_lines(&self) -> u32 {
        self.line_starts.len() as u32
    }
}

impl FileId {
    pub fn span(self, lo: usize, hi: usize) -> Span {
        Span { file: self, lo: lo as u32, hi: hi as u32, via: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Idx;

    #[test]
    fn a_statement_made_by_a_macro_is_reported_at_the_call() {
        let mut s = Sources::default();
        let f = s.add_file("m.pml", "#define inc x = x + 1\ninc;\n");
        let call = f.span(22, 25);
        let exp = s.add_expansion(ExpansionKind::Macro, "inc", call);
        let body = Span { via: Some(exp), ..f.span(12, 13) };
        assert_eq!(s.line(body), 2);
        assert_eq!(s.one_line(body), "inc");
        assert_eq!(s.start(body), LineCol { line: 1, col: 13 });
    }

    #[test]
    fn text_is_shown_on_one_line_without_comments() {
        let mut s = Sources::default();
        let f = s.add_file("m.pml", "x =\n  /* why */ 1 // end\n  + 2");
        assert_eq!(s.one_line(f.span(0, 30)), "x = 1 + 2");
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let mut s = Sources::default();
        let f = s.add_file("m.pml", "");
        assert_eq!(s.start(f.span(0, 0)), LineCol { line: 1, col: 1 });
        assert_eq!(f.index(), 0);
    }
}
