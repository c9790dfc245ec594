//! Text into raw tokens, before macros: names, numbers, quoted texts, signs, and where lines end.
//!
//! The lexer never complains. A malformed piece becomes a token of its own ([`Tok::Stray`], [`Tok::Open`]) and is
//! reported by whoever cannot use it, so that C text and unused macros may contain anything. The one exception is a
//! comment without an end, which swallows the rest of the text: its place is kept in [`Lexer::open_comment`].

use crate::token::{NEWLINE, Names, SPACE, Sign, Sym, Tok, Token};
use spinor_model::source::{FileId, Span};
use std::borrow::Cow;
use std::sync::Arc;

pub struct Lexer {
    pub text: Arc<str>,
    pub file: FileId,
    pub pos: usize,
    /// Only white space and comments stand between here and the beginning of the line.
    pub line_start: bool,
    /// The opening of a comment that never ends.
    pub open_comment: Option<Span>,
    /// Comments that begin with `@` (`annotation.rs`), from where to where.
    pub annotations: Vec<(usize, usize)>,
}

impl Lexer {
    pub fn new(file: FileId, text: Arc<str>) -> Self {
        let pos = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer { text, file, pos, line_start: true, open_comment: None, annotations: Vec::new() }
    }

    /// The next token, lines crossed as they come. `line_start` tells whether it is the first of its line.
    pub fn next(&mut self, names: &mut Names) -> (Token, bool) {
        let flags = self.skip_space(false);
        let first = self.line_start;
        self.line_start = false;
        (self.token(flags, names), first)
    }

    /// The next token of this line. A comment may carry the line on, as in C.
    pub fn next_in_line(&mut self, names: &mut Names) -> Option<Token> {
        let flags = self.skip_space(true);
        match self.peek() {
            None | Some('\n') => None,
            Some(_) => Some(self.token(flags & !NEWLINE, names)),
        }
    }

    /// The rest of the line, comments out, and its place.
    pub fn rest_of_line(&mut self) -> (String, Span) {
        self.skip_space(true);
        let lo = self.pos;
        let mut out = String::new();
        let mut hi = lo;
        while let Some(c) = self.peek().filter(|&c| c != '\n') {
            if c == '/' && self.at_comment() {
                self.skip_space(true);
                out.push(' ');
                continue;
            }
            self.bump(c);
            out.push(c);
            if !c.is_whitespace() {
                hi = self.pos;
            }
        }
        (out.trim_end().to_string(), self.file.span(lo, hi))
    }

    /// Passes over the line without making tokens of it, with the eyes of a lexer: a quote hides what looks like a
    /// comment.
    pub fn skip_line(&mut self) {
        loop {
            self.skip_space(true);
            let Some(c) = self.peek() else { return };
            if c == '\n' {
                return;
            }
            if c == '"' || c == '\'' {
                self.quoted(c);
            } else {
                self.bump(c);
            }
        }
    }

    pub fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    fn rest(&self) -> &str {
        &self.text[self.pos..]
    }

    /// The next character, past any line splices.
    fn peek(&mut self) -> Option<char> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.pos)? {
                b'\\' => match splice_len(&self.text[self.pos..]) {
                    0 => return Some('\\'),
                    n => self.pos += n,
                },
                b if b.is_ascii() => return Some(*b as char),
                _ => return self.rest().chars().next(),
            }
        }
    }

    fn bump(&mut self, c: char) {
        self.pos += c.len_utf8();
    }

    fn at_comment(&self) -> bool {
        matches!(self.text.as_bytes().get(self.pos + 1), Some(b'/' | b'*'))
    }

    /// Skips white space and comments; with `stay`, up to the end of the line at most.
    fn skip_space(&mut self, stay: bool) -> u8 {
        let mut flags = 0;
        loop {
            let bytes = self.text.as_bytes();
            match bytes.get(self.pos) {
                Some(b'\n') => {
                    if stay {
                        return flags;
                    }
                    flags |= NEWLINE | SPACE;
                    self.line_start = true;
                    self.pos += 1;
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => {
                    flags |= SPACE;
                    self.pos += 1;
                }
                Some(b'\\') => match splice_len(self.rest()) {
                    0 => return flags,
                    n => {
                        flags |= NEWLINE;
                        self.pos += n;
                    }
                },
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'*') => {
                    flags |= SPACE;
                    let lo = self.pos;
                    let end = self.rest()[2..].find("*/").map(|n| lo + n + 4);
                    if end.is_none() {
                        self.open_comment.get_or_insert(self.file.span(lo, lo + 2));
                    }
                    self.pos = end.unwrap_or(self.text.len());
                    self.note(lo);
                    if self.text[lo..self.pos].contains('\n') {
                        flags |= NEWLINE;
                    }
                }
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'/') => {
                    flags |= SPACE;
                    let lo = self.pos;
                    loop {
                        let rest = &self.text.as_bytes()[self.pos..];
                        match rest.iter().position(|&b| b == b'\n' || b == b'\\') {
                            None => {
                                self.pos = self.text.len();
                                break;
                            }
                            Some(n) if rest[n] == b'\n' => {
                                self.pos += n;
                                break;
                            }
                            Some(n) => {
                                self.pos += n;
                                self.pos += splice_len(self.rest()).max(1);
                            }
                        }
                    }
                    self.note(lo);
                }
                _ => return flags,
            }
        }
    }

    /// Keeps the comment that ends here, if it may be said to Spinor.
    fn note(&mut self, lo: usize) {
        if self.text[lo + 2..self.pos].trim_start().starts_with('@') {
            self.annotations.push((lo, self.pos));
        }
    }

    fn token(&mut self, flags: u8, names: &mut Names) -> Token {
        let Some(c) = self.peek() else {
            let span = self.file.span(self.text.len(), self.text.len());
            return Token { tok: Tok::Eof, flags, span };
        };
        let lo = self.pos;
        let tok = if c.is_ascii_alphabetic() || c == '_' || !c.is_ascii() && c.is_alphabetic() {
            // Letters of other alphabets are read as part of the name, so that the name is one thing to talk about.
            Tok::Word(self.word(names))
        } else if c.is_ascii_digit() {
            let sym = self.word(names);
            Tok::Number(self.fraction(lo, names).unwrap_or(sym))
        } else if c == '"' || c == '\'' {
            let (text, closed) = self.quoted(c);
            let sym = names.intern(&text);
            match (closed, c) {
                (false, _) => Tok::Open(sym),
                (true, '"') => Tok::Str(sym),
                (true, _) => Tok::Char(sym),
            }
        } else if self.rest().starts_with("-->") {
            // SPIN reads this as an arrow, too.
            self.pos += 3;
            Tok::Sign(Sign::Arrow)
        } else {
            match Sign::ALL.iter().find(|(_, text)| self.rest().starts_with(text)) {
                Some((sign, text)) => {
                    self.pos += text.len();
                    Tok::Sign(*sign)
                }
                None => {
                    self.bump(c);
                    Tok::Stray(c)
                }
            }
        };
        Token { tok, flags, span: self.file.span(lo, self.pos) }
    }

    /// Letters, digits and underscores. A splice inside is rare, and costs a copy only then.
    fn word(&mut self, names: &mut Names) -> Sym {
        let lo = self.pos;
        let mut text: Cow<str> = Cow::Borrowed("");
        loop {
            let from = self.pos;
            let bytes = self.text.as_bytes();
            while let Some(b) = bytes.get(self.pos) {
                if b.is_ascii_alphanumeric() || *b == b'_' {
                    self.pos += 1;
                } else if let Some(c) =
                    self.text[self.pos..].chars().next().filter(|c| !b.is_ascii() && c.is_alphanumeric())
                {
                    self.pos += c.len_utf8();
                } else {
                    break;
                }
            }
            let here = self.pos;
            if here > from && (from > lo || !text.is_empty()) {
                text.to_mut().push_str(&self.text[from..here]);
            }
            match self.peek() {
                Some(c) if here != self.pos && (c.is_ascii_alphanumeric() || c == '_') => {
                    if text.is_empty() {
                        text = Cow::Owned(self.text[lo..here].to_string());
                    }
                }
                _ => {
                    self.pos = here;
                    return if text.is_empty() { names.intern(&self.text[lo..here]) } else { names.intern(&text) };
                }
            }
        }
    }

    /// `1.5` is no Promela, but one thing to talk about. In `1..5` the dots are a sign.
    fn fraction(&mut self, lo: usize, names: &mut Names) -> Option<Sym> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.pos) == Some(&b'.') && bytes.get(self.pos + 1).is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
            self.word(names);
            return Some(names.intern(&self.text[lo..self.pos]));
        }
        None
    }

    /// The text up to the closing quote, which must stand on the same line, and whether it does. Without one, the text
    /// is the opening quote and what follows on the line.
    fn quoted(&mut self, quote: char) -> (String, bool) {
        self.bump(quote);
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|&c| c != '\n') {
            self.bump(c);
            if c == quote {
                return (text, true);
            }
            text.push(c);
            if c == '\\'
                && let Some(escaped) = self.peek().filter(|&c| c != '\n')
            {
                self.bump(escaped);
                text.push(escaped);
            }
        }
        text.insert(0, quote);
        (text, false)
    }
}

/// The length of a backslash and the line end it hides; white space between them is overlooked, as gcc does.
fn splice_len(text: &str) -> usize {
    let after = text.strip_prefix('\\').unwrap_or(text).trim_start_matches([' ', '\t', '\r']);
    if text.starts_with('\\') && after.starts_with('\n') { text.len() - after.len() + 1 } else { 0 }
}

/// The token a text makes, if it makes exactly one: what `##` asks.
pub fn single(text: &str, at: Span, names: &mut Names) -> Option<Token> {
    let mut lexer = Lexer::new(at.file, text.into());
    let (token, _) = lexer.next(names);
    let whole = lexer.at_end() && !matches!(token.tok, Tok::Eof | Tok::Open(_) | Tok::Stray(_));
    whole.then_some(Token { span: at, ..token })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut names = Names::default();
        let mut lexer = Lexer::new(FileId(0), text.into());
        let mut out = Vec::new();
        loop {
            let (token, first) = lexer.next(&mut names);
            let text = match token.tok {
                Tok::Eof => break,
                Tok::Word(s) => names.text(s).to_string(),
                Tok::Number(s) => format!("#{}", names.text(s)),
                Tok::Char(s) => format!("'{}'", names.text(s)),
                Tok::Str(s) => format!("\"{}\"", names.text(s)),
                Tok::Open(s) => format!("open:{}", names.text(s)),
                Tok::Sign(s) => s.text().to_string(),
                Tok::Stray(c) => format!("stray:{c}"),
                Tok::C(_) => unreachable!(),
            };
            out.push(format!("{}{}{text}", if first { "^" } else { "" }, if token.has(NEWLINE) { "/" } else { "" }));
        }
        assert_eq!(out.join(" "), expected, "{text:?}");
    }

    #[test]
    fn signs_are_read_longest_first() {
        check("a<->b <= << <> q??<x> 1..2 x++ -> --", "^a <-> b <= << <> q ?? < x > #1 .. #2 x ++ -> --");
        check("q!!1 q??[x] ::: @", "^q !! #1 q ?? [ x ] :: : @");
        check("x-->y--", "^x -> y --");
    }

    #[test]
    fn letters_stick_to_numbers() {
        check("010 0x1F 1a 1.5 1..5 10UL", "^#010 #0x1F #1a #1.5 #1 .. #5 #10UL");
    }

    #[test]
    fn line_ends_are_seen_through_comments_and_splices() {
        check("a /* \n */ b\nc \\\n d // e\nf", "^a /b ^/c /d ^/f");
        check("a\r\n\tb", "^a ^/b");
        check("\u{feff}a", "^a");
        check("a // b \\\n c\nd", "^a ^/d");
        check("/* \n */ # x", "^/# x");
    }

    #[test]
    fn a_splice_may_cut_a_word() {
        check("fo\\\no ba\\ \nr 1\\\n2", "^foo bar #12");
    }

    #[test]
    fn quotes_end_on_their_line() {
        check("'a' '\\n' '\\'' \"x\\\"y\" 'ab'", "^'a' '\\n' '\\'' \"x\\\"y\" 'ab'");
        check("\"abc\nd 'e\nf", "^open:\"abc ^/d open:'e ^/f");
        check("\"a\\\nb\"", "^\"ab\"");
    }

    #[test]
    fn odd_characters_are_tokens() {
        check("a “b” $ `", "^a stray:“ b stray:” stray:$ stray:`");
    }
}
