//! The words of the printed form, line by line, and a cursor over one line.

use super::{MAX_PARTS, Read, ReadError};
use crate::ir::{MtypeId, Type};
use crate::print::is_id;
use std::fmt;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Word(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{w}`"),
            Token::Number(n) => write!(f, "`{n}`"),
            Token::Text(_) => write!(f, "a string"),
            Token::Sign(s) => write!(f, "`{s}`"),
        }
    }
}

pub(super) struct Line {
    pub(super) no: u32,
    pub(super) tokens: Vec<Token>,
}

/// Longest first, so that the first that fits is the right one.
const SIGNS: [&str; 35] = [
    "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "!!", "??", "(", ")", "{", "}", "[", "]", ",", ":", ".", "=",
    "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "?", "~", "@",
];

pub(super) fn tokenise(text: &str) -> Read<Vec<Line>> {
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let no = u32::try_from(n + 1).unwrap_or(u32::MAX);
        let tokens = tokenise_line(line).map_err(|message| ReadError { line: no, message })?;
        if !tokens.is_empty() {
            out.push(Line { no, tokens });
        }
    }
    Ok(out)
}

pub(super) fn tokenise_line(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    // Inside braces and brackets `;` separates; elsewhere it starts a comment.
    let mut open = 0u32;
    while let Some(c) = rest.chars().next() {
        let len;
        if c == ';' && open == 0 {
            break;
        } else if c == ';' {
            tokens.push(Token::Sign(";"));
            len = 1;
        } else if c == '"' {
            let (text, n) = string(rest)?;
            tokens.push(Token::Text(text));
            len = n;
        } else if c.is_ascii_digit() {
            len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..len].parse().map_err(|_| format!("the number {} is too large", &rest[..len]))?;
            tokens.push(Token::Number(number));
        } else if c.is_ascii_alphabetic() || c == '_' {
            len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..len].to_string()));
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            match *sign {
                "[" => open += 1,
                "]" => open = open.saturating_sub(1),
                _ => {}
            }
            tokens.push(Token::Sign(sign));
            len = sign.len();
        } else {
            return Err(format!("unexpected {c:?}"));
        }
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

/// The string that starts here, and its length in the text.
pub(super) fn string(rest: &str) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, at + 1)),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c @ ('"' | '\\')) => out.push(c),
                Some('u') => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    let code = digits.strip_prefix('{').and_then(|d| u32::from_str_radix(d, 16).ok());
                    out.push(code.and_then(char::from_u32).ok_or("no such character")?);
                }
                _ => return Err("an escape that means nothing".into()),
            },
            c => out.push(c),
        }
    }
    Err("a string without an end".into())
}

/// The tokens of one line.
pub(super) struct Cursor<'a> {
    pub(super) no: u32,
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a Line) -> Self {
        Cursor { no: line.no, tokens: &line.tokens, at: 0 }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError { line: self.no, message: message.into() }
    }

    pub(super) fn wrong(&self, expected: &str) -> ReadError {
        match self.peek() {
            Some(token) => self.error(format!("expected {expected}, found {token}")),
            None => self.error(format!("expected {expected}, found the end of the line")),
        }
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at);
        self.at += 1;
        token
    }

    pub(super) fn end(&self) -> Read<()> {
        if self.at < self.tokens.len() { Err(self.wrong("the end of the line")) } else { Ok(()) }
    }

    pub(super) fn at(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    pub(super) fn take(&mut self, sign: &str) -> bool {
        let here = self.at(sign);
        self.at += usize::from(here);
        here
    }

    pub(super) fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let here = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(here);
        here
    }

    pub(super) fn keyword(&mut self, word: &str) -> Read<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    pub(super) fn word(&mut self) -> Read<&'a str> {
        match self.peek() {
            Some(Token::Word(w)) => {
                self.at += 1;
                Ok(w)
            }
            _ => Err(self.wrong("a word")),
        }
    }

    pub(super) fn text(&mut self) -> Read<&'a str> {
        match self.peek() {
            Some(Token::Text(t)) => {
                self.at += 1;
                Ok(t)
            }
            _ => Err(self.wrong("a string")),
        }
    }

    /// A word, or anything at all in quotes.
    pub(super) fn name(&mut self) -> Read<String> {
        match self.peek() {
            Some(Token::Word(s) | Token::Text(s)) => {
                self.at += 1;
                Ok(s.clone())
            }
            _ => Err(self.wrong("a name")),
        }
    }

    pub(super) fn names(&mut self) -> Read<Vec<String>> {
        let mut out = vec![self.name()?];
        while self.take(",") {
            out.push(self.name()?);
        }
        Ok(out)
    }

    pub(super) fn u32(&mut self) -> Read<u32> {
        match self.peek() {
            Some(Token::Number(n)) => {
                self.at += 1;
                u32::try_from(*n).map_err(|_| self.error(format!("{n} is too large")))
            }
            _ => Err(self.wrong("a number")),
        }
    }

    pub(super) fn u8(&mut self) -> Read<u8> {
        let n = self.u32()?;
        u8::try_from(n).map_err(|_| self.error(format!("{n} is too large")))
    }

    /// `l3`, `e7`, …
    pub(super) fn id(&mut self, prefix: char) -> Read<u32> {
        match self.peek() {
            Some(Token::Word(w)) if is_id(w, prefix) => {
                self.at += 1;
                self.own_id(w, prefix)
            }
            _ => Err(self.wrong(&format!("`{prefix}` and a number"))),
        }
    }

    pub(super) fn own_id(&self, word: &str, prefix: char) -> Read<u32> {
        let number = word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        number.ok_or_else(|| self.error(format!("{word} is too large")))
    }

    pub(super) fn ty(&mut self) -> Read<Type> {
        Ok(match self.word()? {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "chan" => Type::Chan,
            "unsigned" => {
                self.expect(":")?;
                match self.u8()? {
                    bits @ 1..=31 => Type::Unsigned(bits),
                    bits => return Err(self.error(format!("unsigned has 1 to 31 bits, not {bits}"))),
                }
            }
            "mtype" => {
                self.expect(":")?;
                Type::Mtype(MtypeId(self.id('m')?))
            }
            other => return Err(self.error(format!("`{other}` is no type"))),
        })
    }

    pub(super) fn few_parts(&self, parts: u64) -> Read<u64> {
        if parts > MAX_PARTS { Err(self.error(format!("more than {MAX_PARTS} parts"))) } else { Ok(parts) }
    }
}
