//! The separators that authors may leave out, put in before the parser looks.
//!
//! SPIN does this between its lexer and its grammar, knowing only the tokens around the place and whether a body is
//! open; doing it in the same layer is what makes the same text mean the same thing. Two rules:
//!
//!   S1  inside the body of a process, claim, trace or typedef, with no `(` open, a line end after a token that can end
//!       a statement is a separator: a name, a constant, `)`, `]`, `++`, `--`, `fi`, `od`, `else`, `break`, C text.
//!       Names of proctypes, typedefs and inlines are no such names, nor is `np_`; `>` and `}` are not on the list.
//!   S2  anywhere, a separator follows `}` unless the next token is one of `proctype init never :: fi od } unless ; ->` or
//!       the end, and follows `else` unless the next token is one of `; -> fi`.
//!
//! So `x` and `-1` on two lines are two statements, and `}` may stand on the line before its `unless` while `fi` may not.
//! All of it was found by running SPIN 6.5.2 on small models.
//!
//! The same pass folds each piece of C into one token, because its insides are not Promela, and leaves the bodies of
//! inlines alone: they get their separators where they are used.

use super::repair::repair;
use crate::diags::Diags;
use crate::token::{IMPLIED, Key, NEWLINE, Names, Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{Sources, Span};
use std::collections::HashSet;

/// Names that SPIN's lexer tells from variables.
#[derive(Default)]
pub struct Known {
    pub proctypes: HashSet<Sym>,
    pub typedefs: HashSet<Sym>,
    pub inlines: HashSet<Sym>,
}

/// Where the tokens come from.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Model,
    /// the body of an inline being used
    Body,
}

pub fn separate(
    tokens: &[Token],
    place: Place,
    known: &mut Known,
    names: &mut Names,
    sources: &Sources,
    diags: &mut Diags,
) -> Vec<Token> {
    let out = Vec::with_capacity(tokens.len() + tokens.len() / 8);
    let in_body = place == Place::Body;
    let mut layer = Layer { out, place, depth: 0, parens: 0, in_body, body_next: false };
    let mut i = 0;
    while i < tokens.len() {
        let token = tokens[i];
        if matches!(token.tok, Tok::Stray(_) | Tok::Open(_)) {
            let (n, repaired) = repair(&tokens[i..], layer.out.last(), layer.parens, names, sources, diags);
            for token in repaired {
                layer.put(token, known);
            }
            i += n;
            continue;
        }
        let key = token.key();
        if matches!(key, Some(Key::CCode | Key::CDecl | Key::CExpr))
            && let Some(key) = key
            && let Some(end) = c_text(&tokens[i..], sources, diags)
        {
            let span = sources.join(token.span, tokens[i + end - 1].span);
            layer.put(Token { tok: Tok::C(key), span, ..token }, known);
            i += end;
            continue;
        }
        if let Some(key) = key.filter(|k| k.begins_unit() && place == Place::Model) {
            layer.begin_unit(key, tokens.get(i + 1).and_then(Token::name), known);
            if key == Key::Inline
                && let Some(open) = tokens[i..].iter().take(200).position(|t| t.is(Sign::OpenBrace))
            {
                let end = i + open + inline_body(&tokens[i + open..]);
                layer.put(token, known);
                layer.out.extend_from_slice(&tokens[i + 1..end]);
                i = end;
                continue;
            }
        }
        layer.put(token, known);
        i += 1;
    }
    layer.out
}

struct Layer {
    out: Vec<Token>,
    place: Place,
    depth: usize,
    parens: usize,
    in_body: bool,
    /// The next `{` opens a body.
    body_next: bool,
}

impl Layer {
    /// Adds a token, with a separator before it if one belongs there.
    fn put(&mut self, token: Token, known: &Known) {
        if let Some(prev) = self.out.last().copied()
            && separator_between(&prev, &token, self.in_body && self.parens == 0, known)
        {
            let at = Span { lo: prev.span.hi, ..prev.span };
            self.out.push(Token { tok: Tok::Sign(Sign::Semi), flags: IMPLIED, span: at });
        }
        match token.tok {
            Tok::Sign(Sign::OpenBrace) => {
                if self.depth == 0 && self.body_next {
                    self.in_body = true;
                    self.parens = 0;
                }
                self.body_next = false;
                self.depth += 1;
            }
            Tok::Sign(Sign::CloseBrace) => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 && self.place == Place::Model {
                    self.in_body = false;
                }
            }
            Tok::Sign(Sign::OpenParen) => self.parens += 1,
            Tok::Sign(Sign::CloseParen) => self.parens = self.parens.saturating_sub(1),
            _ => {}
        }
        self.out.push(token);
    }

    /// A unit inside a body means that a brace was forgotten; the parser says so, this layer starts afresh.
    fn begin_unit(&mut self, key: Key, name: Option<Sym>, known: &mut Known) {
        (self.depth, self.parens, self.in_body) = (0, 0, false);
        self.body_next = !matches!(key, Key::Ltl | Key::Inline | Key::Active);
        match (key, name) {
            (Key::Proctype | Key::DProctype, Some(name)) => _ = known.proctypes.insert(name),
            (Key::Typedef, Some(name)) => _ = known.typedefs.insert(name),
            (Key::Inline, Some(name)) => _ = known.inlines.insert(name),
            _ => {}
        }
    }
}

fn separator_between(prev: &Token, next: &Token, lines_count: bool, known: &Known) -> bool {
    let sep = next.is(Sign::Semi) || next.is(Sign::Arrow);
    let key = next.key();
    if prev.is(Sign::CloseBrace) {
        let stays = matches!(key, Some(Key::Proctype | Key::Init | Key::Never | Key::Fi | Key::Od | Key::Unless));
        return !(sep || stays || next.is(Sign::ColonColon) || next.is(Sign::CloseBrace) || next.tok == Tok::Eof);
    }
    if prev.key() == Some(Key::Else) {
        return !(sep || key == Some(Key::Fi));
    }
    lines_count && next.has(NEWLINE) && !sep && next.tok != Tok::Eof && ends_statement(prev, known)
}

fn ends_statement(token: &Token, known: &Known) -> bool {
    match token.tok {
        Tok::Word(sym) => match token.key() {
            Some(key) => {
                matches!(key, Key::Fi | Key::Od | Key::Break | Key::True | Key::False | Key::Skip | Key::Timeout)
            }
            None => !(known.proctypes.contains(&sym) || known.typedefs.contains(&sym) || known.inlines.contains(&sym)),
        },
        Tok::Number(_) | Tok::Char(_) | Tok::C(_) => true,
        Tok::Sign(sign) => {
            matches!(sign, Sign::CloseParen | Sign::CloseBracket | Sign::PlusPlus | Sign::MinusMinus)
        }
        _ => false,
    }
}

/// How many tokens a `c_code [ … ] { … }` takes.
fn c_text(tokens: &[Token], sources: &Sources, diags: &mut Diags) -> Option<usize> {
    let mut at = 1;
    if tokens.get(at)?.is(Sign::OpenBracket) {
        let mut depth = 0usize;
        loop {
            match tokens.get(at)?.tok {
                Tok::Sign(Sign::OpenBracket) => depth += 1,
                Tok::Sign(Sign::CloseBracket) => depth -= 1,
                Tok::Eof => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    if !tokens.get(at)?.is(Sign::OpenBrace) {
        return None;
    }
    let end = at + balanced(&tokens[at..]);
    if !tokens[end - 1].is(Sign::CloseBrace) {
        diags.push(
            Diagnostic::error("P0010", "this C text never ends")
                .at(sources.surface(tokens[0].span), "begins here")
                .help("add the missing `}`"),
        );
    }
    Some(end)
}

/// The same for the body of an inline, in which no other unit can begin.
fn inline_body(tokens: &[Token]) -> usize {
    let all = balanced(tokens);
    tokens[..all].iter().position(|t| t.key().is_some_and(Key::begins_unit)).unwrap_or(all)
}

/// How many tokens lead from a `{` to after its `}`, or to the end.
fn balanced(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::Sign(Sign::OpenBrace) => depth += 1,
            Tok::Sign(Sign::CloseBrace) => {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
            Tok::Eof => return i,
            _ => {}
        }
    }
    tokens.len()
}
