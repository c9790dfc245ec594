//! The words of a text in the Hanoi omega-automata format, with their places.

use crate::hoa::HoaError;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Word(String),
    /// A word with a colon.
    Header(String),
    Alias(String),
    Number(u32),
    String(String),
    Sign(char),
    Body,
    End,
    Abort,
    Eof,
}

impl Kind {
    /// Does it begin the next header, or what comes behind the headers?
    pub fn ends_header(&self) -> bool {
        matches!(self, Kind::Header(_) | Kind::Body | Kind::End | Kind::Abort | Kind::Eof)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Word(w) => write!(f, "`{w}`"),
            Kind::Header(w) => write!(f, "`{w}:`"),
            Kind::Alias(w) => write!(f, "`@{w}`"),
            Kind::Number(n) => write!(f, "`{n}`"),
            Kind::String(s) => write!(f, "{s:?}"),
            Kind::Sign(c) => write!(f, "`{c}`"),
            Kind::Body => write!(f, "`--BODY--`"),
            Kind::End => write!(f, "`--END--`"),
            Kind::Abort => write!(f, "`--ABORT--`"),
            Kind::Eof => write!(f, "the end of the text"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    line: usize,
    column: usize,
}

impl Token {
    pub fn error(&self, message: String, help: &'static str) -> HoaError {
        HoaError { line: self.line, column: self.column, message, help }
    }
}

/// Parentheses in each other. Labels are read by recursion.
const MOST_DEPTH: u32 = 200;

pub struct Tokens {
    all: Vec<Token>,
    at: usize,
    depth: u32,
}

impl Tokens {
    pub fn new(text: &str) -> Result<Tokens, HoaError> {
        let mut all = Vec::new();
        let mut scan = Scan { rest: text, line: 1, column: 1 };
        loop {
            let token = scan.token()?;
            let end = token.kind == Kind::Eof;
            all.push(token);
            if end {
                return Ok(Tokens { all, at: 0, depth: 0 });
            }
        }
    }

    pub fn peek(&self) -> &Token {
        &self.all[self.at]
    }

    /// The end of the text comes as often as it is asked for.
    pub fn next(&mut self) -> Token {
        let token = self.all[self.at].clone();
        self.at = (self.at + 1).min(self.all.len() - 1);
        token
    }

    pub fn take(&mut self, kind: Kind) -> bool {
        let is = self.peek().kind == kind;
        if is {
            self.next();
        }
        is
    }

    pub fn deeper(&mut self, token: &Token) -> Result<(), HoaError> {
        self.depth += 1;
        if self.depth <= MOST_DEPTH {
            return Ok(());
        }
        Err(token.error("parentheses are nested too deeply".to_string(), "name inner parts by `Alias:` headers"))
    }

    pub fn back_up(&mut self) {
        self.depth -= 1;
    }
}

struct Scan<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl Scan<'_> {
    fn step(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn step_over(&mut self, n_chars: usize) {
        for _ in 0..n_chars {
            self.step();
        }
    }

    fn here(&self, kind: Kind) -> Token {
        Token { kind, line: self.line, column: self.column }
    }

    fn space(&mut self) -> Result<(), HoaError> {
        loop {
            if self.rest.starts_with("/*") {
                let start = self.here(Kind::Eof);
                self.step_over(2);
                let mut depth = 1;
                while depth > 0 {
                    if self.rest.starts_with("/*") {
                        depth += 1;
                        self.step_over(2);
                    } else if self.rest.starts_with("*/") {
                        depth -= 1;
                        self.step_over(2);
                    } else if self.step().is_none() {
                        return Err(start.error("the comment does not end".to_string(), "close it by `*/`"));
                    }
                }
            } else if self.rest.starts_with(char::is_whitespace) {
                self.step();
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token, HoaError> {
        self.space()?;
        let mut token = self.here(Kind::Eof);
        for (text, kind) in [("--BODY--", Kind::Body), ("--END--", Kind::End), ("--ABORT--", Kind::Abort)] {
            if self.rest.starts_with(text) {
                self.step_over(text.len());
                token.kind = kind;
                return Ok(token);
            }
        }
        let Some(first) = self.step() else { return Ok(token) };
        token.kind = match first {
            '"' => Kind::String(self.string(&token)?),
            '@' => Kind::Alias(self.word(String::new())),
            c if c.is_ascii_digit() => {
                let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
                let number = format!("{c}{}", &self.rest[..digits]);
                self.step_over(digits);
                match number.parse() {
                    Ok(n) => Kind::Number(n),
                    Err(_) => return Err(token.error(format!("{number} is too large a number"), "use smaller numbers")),
                }
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let word = self.word(c.to_string());
                if self.rest.starts_with(':') {
                    self.step();
                    Kind::Header(word)
                } else {
                    Kind::Word(word)
                }
            }
            c @ ('[' | ']' | '{' | '}' | '(' | ')' | '&' | '|' | '!') => Kind::Sign(c),
            c => {
                return Err(
                    token.error(format!("{c:?} has no place here"), "see the format at https://adl.github.io/hoaf/")
                );
            }
        };
        Ok(token)
    }

    fn word(&mut self, mut word: String) -> String {
        while self.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            word.extend(self.step());
        }
        word
    }

    fn string(&mut self, start: &Token) -> Result<String, HoaError> {
        let mut string = String::new();
        loop {
            match self.step() {
                Some('"') => return Ok(string),
                Some('\\') => string.extend(self.step()),
                Some(c) => string.push(c),
                None => return Err(start.error("the string does not end".to_string(), "close it by `\"`")),
            }
        }
    }
}
