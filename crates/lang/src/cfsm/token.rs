//! Text into tokens. Names may begin with a digit where a state is named, so a number is a name to whoever wants one.

use crate::diags::Diags;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{FileId, Span};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tok {
    /// A word or a number.
    Word(String),
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// Longer ones first.
const SIGNS: [&str; 30] = [
    "<->", "->", "<>", "[]", "..", "&&", "||", "==", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ",", ":", ";",
    "@", "!", "<", ">", "-", "+", "?", ".", "=", "*",
];

/// What word processors put in their place.
const LOOKALIKES: [(char, &str); 8] =
    [('–', "-"), ('—', "-"), ('−', "-"), ('→', "->"), ('□', "[]"), ('◇', "<>"), ('∧', "&&"), ('∨', "||")];

/// All tokens; the last one is the end.
pub fn tokens(file: FileId, text: &str, diags: &mut Diags) -> Vec<Token> {
    let mut out = Vec::new();
    let mut pos = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(c) = text[pos..].chars().next() {
        let rest = &text[pos..];
        let mut put = |tok: Tok, len: usize| out.push(Token { tok, span: file.span(pos, pos + len) });
        let len = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or_else(
                || {
                    let error = Diagnostic::error("C0002", "this comment never ends");
                    diags.push(error.at(file.span(pos, pos + 2), "opened here").help("a comment ends at `*/`"));
                    rest.len()
                },
                |end| end + 2,
            )
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            put(Tok::Word(rest[..len].to_string()), len);
            len
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            put(Tok::Sign(sign), sign.len());
            sign.len()
        } else {
            let span = file.span(pos, pos + c.len_utf8());
            let shown = if c.is_control() { format!("U+{:04X}", c as u32) } else { c.to_string() };
            let error = Diagnostic::error("C0001", format!("`{shown}` has no meaning here")).at(span, "");
            diags.push(match LOOKALIKES.iter().find(|(like, _)| *like == c) {
                Some((_, plain)) => {
                    // It is read as what was meant.
                    put(Tok::Sign(plain), c.len_utf8());
                    error.help(format!("write `{plain}`")).fix(span, *plain)
                }
                None => error.help("names are letters, digits and `_`"),
            });
            c.len_utf8()
        };
        pos += len;
    }
    out.push(Token { tok: Tok::End, span: file.span(text.len(), text.len()) });
    out
}
